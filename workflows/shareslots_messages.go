package workflows

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/share"
	"flinkscaler/core/spec"
)

// Bounds of what a message may bring: the state is carried over.
const (
	maxShareJob      = 128
	maxShareDecision = 100
	// maxShareReply is the most that Temporal allows for a workflow id.
	maxShareReply = 1000
	maxShareSlots = 1 << 24
)

// slotsFields are the fields of each signal, those that must be there first.
func slotsFields(name string) (must, may []string) {
	must = []string{"cluster", "decision", "job"}
	switch name {
	case activities.SignalSlotsRequest:
		return append(must, "held", "replyTo", "slots"), []string{"limits", "priority"}
	case activities.SignalSlotsRenew:
		return append(must, "held", "replyTo"), []string{"slots"}
	}
	return append(must, "held"), []string{"again", "limits"}
}

// decodeSlots reads a signal strictly: every problem at once.
func decodeSlots(name, cluster string, raw []byte) (activities.SlotsMessage, []core.Problem) {
	must, may := slotsFields(name)
	d, problems := shareFields(name, raw, must, may)
	if problems != nil {
		return activities.SlotsMessage{}, problems
	}
	m := activities.SlotsMessage{
		Cluster: d.text("cluster", maxShareJob), Job: d.text("job", maxShareJob), DecisionID: d.text("decision", maxShareDecision),
		ReplyTo: d.text("replyTo", maxShareReply), Held: d.number("held", 0), Slots: d.number("slots", 0),
		Priority: d.number("priority", -maxShareSlots), Limits: d.limits(),
	}
	if raw, ok := d.fields["again"]; ok && json.Unmarshal(raw, &m.Again) != nil {
		d.bad("again", "must be true or false")
	}
	if m.Cluster != "" && m.Cluster != cluster {
		d.bad("cluster", "is %q, this workflow shares the slots of %q", m.Cluster, cluster)
	}
	return m, spec.Few(d.problems)
}

// decodeSlotsStart reads the input of a first run.
func decodeSlotsStart(raw []byte) (activities.SlotsStart, []core.Problem) {
	d, problems := shareFields("input", raw, []string{"cluster"}, []string{"limits"})
	if problems != nil {
		return activities.SlotsStart{}, problems
	}
	s := activities.SlotsStart{Cluster: d.text("cluster", maxShareJob)}
	if l := d.limits(); l != nil {
		s.Limits = *l
	}
	return s, spec.Few(d.problems)
}

// shareDecoder collects the problems of one message.
type shareDecoder struct {
	name     string
	fields   map[string]json.RawMessage
	problems []core.Problem
}

// shareFields takes a message apart, and checks which fields it has.
func shareFields(name string, raw []byte, must, may []string) (*shareDecoder, []core.Problem) {
	if len(raw) > maxMessage {
		return nil, problemOf(name, "is %d bytes long, at most %d are read", len(raw), maxMessage)
	}
	fields, problem := spec.Object(name, spec.Unwrap(raw))
	if problem != nil {
		return nil, []core.Problem{*problem}
	}
	d := &shareDecoder{name: name, fields: fields}
	known := append(slices.Clone(must), may...)
	slices.Sort(known)
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, k) {
			d.bad(k, "unknown field; known are %s", strings.Join(known, ", "))
		}
	}
	for _, k := range must {
		if _, ok := fields[k]; !ok {
			d.bad(k, "is missing")
		}
	}
	return d, nil
}

func (d *shareDecoder) bad(path, format string, args ...any) {
	d.problems = append(d.problems, core.Problem{Path: d.name + "." + path, Message: fmt.Sprintf(format, args...)})
}

func (d *shareDecoder) text(k string, most int) string {
	raw, ok := d.fields[k]
	if !ok {
		return ""
	}
	var s string
	switch {
	case json.Unmarshal(raw, &s) != nil:
		d.bad(k, "must be a string, got %s", spec.Cut(string(raw), 60))
	case s == "" || len(s) > most:
		d.bad(k, "must have 1 to %d bytes", most)
	case strings.ContainsFunc(s, unicode.IsControl):
		d.bad(k, "must not hold control characters or line breaks")
	default:
		return s
	}
	return ""
}

func (d *shareDecoder) number(k string, least int) int {
	raw, ok := d.fields[k]
	if !ok {
		return 0
	}
	var n int
	if json.Unmarshal(raw, &n) != nil || n < least || n > maxShareSlots {
		d.bad(k, "must be a whole number from %d to %d, got %s", least, maxShareSlots, spec.Cut(string(raw), 60))
		return 0
	}
	return n
}

// limits are written by workers: the lease is a number of nanoseconds.
func (d *shareDecoder) limits() *share.Limits {
	raw, ok := d.fields["limits"]
	if !ok {
		return nil
	}
	var l share.Limits
	if json.Unmarshal(raw, &l) != nil || l.Slots < 0 || l.Rescales < 0 || l.Lease < 0 || l.Lease > 24*time.Hour {
		d.bad("limits", "must be slots, rescales and lease, each at least 0, got %s", spec.Cut(string(raw), 60))
		return nil
	}
	return &l
}
