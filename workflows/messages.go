package workflows

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/core/spec"
)

// message is a decoded order of an operator.
type message struct {
	Name   string
	By     string
	Reason string
	ID     string
	// Until is when the order ends, zero for never.
	Until time.Time
	// Parallelism and Vertices are of an override.
	Parallelism int
	Vertices    []core.VertexSize
	// Edits are of set-policy, Decision is of approve and reject.
	Edits    []policy.Edit
	Decision string
}

// maxMessage bounds a message: anything longer is no order of a person.
const maxMessage = 64 << 10

// A replay decodes every message again: what is accepted or refused, the rules
// of durations included, is part of what must not change without a version.

// decode reads a message strictly: every problem at once. No payload at all is
// an order without fields, which pause, resume, clear-override, undo and
// evaluate-now take.
func decode(name string, raw []byte, now time.Time) (message, []core.Problem) {
	m := message{Name: name}
	if len(raw) > maxMessage {
		return m, []core.Problem{{Path: name, Message: fmt.Sprintf("is %d bytes long, at most %d are read", len(raw), maxMessage)}}
	}
	raw = spec.Unwrap(raw)
	if len(raw) == 0 || string(raw) == "null" {
		switch name {
		case MsgOverride:
			return m, problemOf(name, `is empty; give a size such as {"parallelism": 4}`)
		case MsgApprove, MsgReject:
			return m, problemOf(name, `is empty; give the proposal, such as {"decision": "42-1796040000"}`)
		case MsgSetPolicy:
			return m, problemOf(name, `is empty; give keys such as {"policy": {"job.autoscaler.scaling.enabled": "false"}}`)
		}
		return m, nil
	}
	fields, problem := spec.Object(name, raw)
	if problem != nil {
		return m, []core.Problem{*problem}
	}
	d := decoder{name: name, now: now, m: &m}
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		d.field(k, fields[k])
	}
	d.check(fields)
	return m, spec.Few(d.problems)
}

// decoder collects the problems of one message.
type decoder struct {
	name     string
	now      time.Time
	m        *message
	problems []core.Problem
}

func (d *decoder) bad(path, format string, args ...any) {
	d.problems = append(d.problems, core.Problem{Path: d.name + "." + path, Message: fmt.Sprintf(format, args...)})
}

// knownFields lists what each message takes.
func knownFields(name string) []string {
	switch name {
	case MsgPause, MsgUndo:
		return []string{"by", "for", "id", "reason", "until"}
	case MsgOverride:
		return []string{"by", "for", "id", "parallelism", "reason", "until", "vertices"}
	case MsgApprove, MsgReject:
		return []string{"by", "decision", "id", "reason"}
	case MsgSetPolicy:
		return []string{"by", "for", "id", "policy", "reason", "until"}
	}
	return []string{"by", "id", "reason"}
}

func (d *decoder) field(k string, raw json.RawMessage) {
	if !slices.Contains(knownFields(d.name), k) {
		d.bad(k, "unknown field; known are %s", strings.Join(knownFields(d.name), ", "))
		return
	}
	switch k {
	case "by":
		d.m.By = d.text(k, raw)
	case "reason":
		d.m.Reason = d.text(k, raw)
	case "id":
		d.m.ID = d.text(k, raw)
	case "for":
		d.period(raw)
	case "until":
		d.until(raw)
	case "parallelism":
		d.m.Parallelism = d.size(k, raw)
	case "vertices":
		d.vertices(raw)
	case "policy":
		d.edits(raw)
	case "decision":
		d.m.Decision = d.text(k, raw)
	}
}

// maxText bounds names and reasons: they are kept and shown.
const maxText = 200

func (d *decoder) text(k string, raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		d.bad(k, "must be a string, got %s", spec.Cut(string(raw), 60))
	}
	if len(s) > maxText {
		d.bad(k, "must have at most %d bytes", maxText)
		return ""
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		d.bad(k, "must not hold control characters or line breaks")
		return ""
	}
	return s
}

// maxPeriod bounds an order's life: a year is for ever by mistake.
const maxPeriod = 366 * 24 * time.Hour

func (d *decoder) period(raw json.RawMessage) {
	p, err := policy.ParseDuration(d.text("for", raw))
	switch {
	case err != nil:
		d.bad("for", "must be a duration such as \"30 min\": %v", err)
	case p <= 0 || p > maxPeriod:
		d.bad("for", "must be more than 0 and at most a year")
	default:
		d.m.Until = d.now.Add(p)
	}
}

func (d *decoder) until(raw json.RawMessage) {
	t, err := time.Parse(time.RFC3339, d.text("until", raw))
	switch {
	case err != nil:
		d.bad("until", "must be a time such as \"2026-11-30T08:00:00Z\"")
	case !t.After(d.now):
		d.bad("until", "is in the past")
	case t.Sub(d.now) > maxPeriod:
		d.bad("until", "must be within a year")
	default:
		d.m.Until = t.UTC()
	}
}

// maxSize is Flink's own limit of a parallelism.
const maxSize = 1 << 15

func (d *decoder) size(k string, raw json.RawMessage) int {
	var n int
	if json.Unmarshal(raw, &n) != nil || n < 1 || n > maxSize {
		d.bad(k, "must be a whole number from 1 to %d, got %s", maxSize, spec.Cut(string(raw), 60))
		return 0
	}
	return n
}

func (d *decoder) vertices(raw json.RawMessage) {
	fields, problem := spec.Object(d.name+".vertices", raw)
	if problem != nil {
		d.problems = append(d.problems, *problem)
		return
	}
	if len(fields) == 0 {
		d.bad("vertices", "must name at least one vertex")
	}
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		d.m.Vertices = append(d.m.Vertices, core.VertexSize{ID: k, Parallelism: d.size(fmt.Sprintf("vertices[%q]", k), fields[k])})
	}
}

// check looks at the fields together.
func (d *decoder) check(fields map[string]json.RawMessage) {
	_, period := fields["for"]
	_, until := fields["until"]
	if period && until {
		d.bad("for", "and until exclude each other")
	}
	if _, given := fields["policy"]; d.name == MsgSetPolicy && !given {
		d.bad("policy", "is missing")
	}
	if _, given := fields["decision"]; (d.name == MsgApprove || d.name == MsgReject) && !given {
		d.bad("decision", "is missing")
	}
	if d.name != MsgOverride {
		return
	}
	_, all := fields["parallelism"]
	_, some := fields["vertices"]
	if all == some {
		d.bad("parallelism", "or vertices must be given, one of them")
	}
}

// apply carries out a decoded message on the state and says what it did.
func (s *State) apply(m message, j judgement, now time.Time) Answer {
	var a Answer
	switch m.Name {
	case MsgApprove, MsgReject:
		m, a = s.answer(m, now)
	case MsgUndo:
		m, a = s.goBack(m, j, now)
	default:
		a = s.act(m, j, now)
	}
	s.give(m, a.Message, now)
	return a
}

func (s *State) act(m message, j judgement, now time.Time) Answer {
	switch m.Name {
	case MsgPause:
		s.end(endedBy("replaced", m.By), now, MsgPause)
		s.Pause = &core.Pause{By: m.By, Reason: m.Reason, Since: now, Until: m.Until}
		return Answer{Message: "paused" + untilText(m.Until)}
	case MsgResume:
		if s.Pause == nil {
			return Answer{Message: "was not paused"}
		}
		s.end(endedBy("resumed", m.By), now, MsgPause)
		s.Pause = nil
		return Answer{Message: "resumed"}
	case MsgOverride:
		return s.override(m, now)
	case MsgClearOverride:
		if s.Override == nil {
			return Answer{Message: "there was no override"}
		}
		s.end(endedBy("cleared", m.By), now, MsgOverride, MsgUndo)
		s.Override = nil
		return Answer{Message: "override is cleared"}
	case MsgSetPolicy:
		return s.setPolicy(m, j, now)
	case MsgEvaluateNow:
		return Answer{Message: "evaluating now"}
	}
	return Answer{}
}

// override pins the size, and says what that will change: the limits of Flink
// are known before the job is looked at again.
func (s *State) override(m message, now time.Time) Answer {
	s.end(endedBy("replaced", m.By), now, MsgOverride, MsgUndo)
	s.Override = &core.Override{Parallelism: m.Parallelism, Vertices: m.Vertices, By: m.By, Reason: m.Reason, Since: now, Until: m.Until}
	changes, text := s.willSet(*s.Override)
	return Answer{Message: "override is set" + untilText(m.Until) + text + s.waits(), Sizes: changes}
}

// waits says that a pause goes before an order.
func (s *State) waits() string {
	if s.Pause == nil {
		return ""
	}
	return "; the job is paused, it takes effect when it is resumed"
}

// willSet says what an override would change in the job as it was last seen.
func (s *State) willSet(o core.Override) ([]SizeChange, string) {
	if len(s.Topology.Vertices) == 0 {
		return nil, "; the job has not been seen yet"
	}
	sizes, problems := o.Resolve(s.Topology)
	if len(problems) > 0 {
		return nil, "; it cannot be carried out as it stands: " + joined(spec.Few(problems))
	}
	changes := s.changes(sizes)
	if len(changes) == 0 {
		return nil, "; everything runs as it says"
	}
	return changes, ": " + sizeChangesText(changes)
}

// SizeChange is what an order will do to a vertex.
type SizeChange struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	From int    `json:"from"`
	To   int    `json:"to"`
}

// changes are those of the sizes that are not what runs, in the order in which
// records pass the vertices. A source gets no more subtasks than it has
// partitions.
func (s *State) changes(sizes []core.VertexSize) []SizeChange {
	var out []SizeChange
	for _, v := range s.Topology.Ordered() {
		to, ok := core.FindSize(sizes, v.ID)
		if !ok || v.Finished {
			continue
		}
		if v.IsSource() && v.Partitions > 0 {
			to = min(to, v.Partitions)
		}
		if to != v.Parallelism {
			out = append(out, SizeChange{ID: v.ID, Name: spec.Cut(v.Name, maxText), From: v.Parallelism, To: to})
		}
	}
	return out
}

func sizeChangesText(changes []SizeChange) string {
	var parts []string
	for i, c := range changes {
		if i == maxTold {
			parts = append(parts, fmt.Sprintf("%d more", len(changes)-i))
			break
		}
		name := c.Name
		if name == "" {
			name = c.ID
		}
		parts = append(parts, fmt.Sprintf("%s %d -> %d", spec.Cut(name, 60), c.From, c.To))
	}
	return strings.Join(parts, ", ")
}

func untilText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " until " + t.UTC().Format(time.RFC3339)
}
