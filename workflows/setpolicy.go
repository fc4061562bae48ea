package workflows

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/core/spec"
)

// SetKey is one key of the layer that set-policy makes: what, who and until
// when.
type SetKey struct {
	Key    string    `json:"key"`
	Value  string    `json:"value"`
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until,omitzero"`
}

// maxKeyBytes bounds a key: longer ones are no keys.
const maxKeyBytes = 300

// edits reads keys with values as a person types them; null removes one.
func (d *decoder) edits(raw json.RawMessage) {
	fields, problem := spec.Object(d.name+".policy", raw)
	if problem != nil {
		d.problems = append(d.problems, *problem)
		return
	}
	if len(fields) == 0 {
		d.bad("policy", "must name at least one key")
	}
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		at := fmt.Sprintf("policy[%q]", spec.Cut(k, 60))
		if len(k) > maxKeyBytes {
			d.bad(at, "is a key of %d bytes, at most %d are read", len(k), maxKeyBytes)
			continue
		}
		e := policy.Edit{Key: k}
		if string(bytes.TrimSpace(fields[k])) != "null" {
			v, ok := spec.Scalar(fields[k])
			if !ok {
				d.bad(at, "must be a string, a number, a boolean, or null to remove it, got %s", spec.Cut(string(fields[k]), 60))
				continue
			}
			e.Value = &v
		}
		d.m.Edits = append(d.m.Edits, e)
	}
}

// set is the layer that set-policy makes.
func (s *State) set() map[string]string {
	out := make(map[string]string, len(s.Set))
	for _, k := range s.Set {
		out[k.Key] = k.Value
	}
	return out
}

// layers are all that the workflow knows.
func (s *State) layers() []policy.Layer {
	return activities.Layers(s.set(), s.Spec.Policy, s.Config, s.Cluster)
}

// revise judges what an order would make of the policy.
func (s *State) revise(m message) judgement {
	r := policy.Revise(s.layers(), m.Edits)
	j := judgement{Problems: spec.Few(r.Problems), Remaining: len(r.Remaining), Changes: r.Changes}
	for i := range j.Problems {
		j.Problems[i].Path = MsgSetPolicy + "." + j.Problems[i].Path
	}
	return j
}

// setPolicy merges the keys of an order into the layer. What it names is its
// own from now on, with its end; keys that it does not name stay as they were
// set.
func (s *State) setPolicy(m message, j judgement, now time.Time) Answer {
	named := map[string]bool{}
	for _, e := range m.Edits {
		named[policy.Canonical(e.Key)] = true
	}
	kept := slices.DeleteFunc(slices.Clone(s.Set), func(k SetKey) bool { return named[policy.Canonical(k.Key)] })
	for _, e := range m.Edits {
		if e.Value != nil {
			kept = append(kept, SetKey{Key: policy.Canonical(e.Key), Value: *e.Value, By: m.By, Reason: m.Reason, Since: now, Until: m.Until})
		}
	}
	slices.SortFunc(kept, func(a, b SetKey) int { return strings.Compare(a.Key, b.Key) })
	s.Set = kept
	s.Stand++
	text := "policy is set" + untilText(m.Until) + ": " + changesText(j.Changes)
	if j.Remaining > 0 {
		text += fmt.Sprintf("; %d problem(s) elsewhere in the policy remain, and nothing changes until they are mended", j.Remaining)
	}
	return Answer{Message: text, Policy: j.Changes}
}

// maxTold bounds a list in a sentence.
const maxTold = 10

// changesText lists what is in force now.
func changesText(changes []policy.Changed) string {
	var parts []string
	for i, c := range changes {
		if i == maxTold {
			parts = append(parts, fmt.Sprintf("%d more", len(changes)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%s %s -> %s (%s)", c.Key, orNothing(c.Before), orNothing(c.After), orNone(c.From)))
	}
	if len(parts) == 0 {
		return "nothing is otherwise than before"
	}
	return strings.Join(parts, ", ")
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return spec.Cut(s, 60)
}

// expireSet takes out the keys whose time has come: the layers below show
// again.
func (s *State) expireSet(now time.Time) bool {
	left := slices.DeleteFunc(slices.Clone(s.Set), func(k SetKey) bool { return passed(k.Until, now) })
	if len(left) == len(s.Set) {
		return false
	}
	s.Set = left
	s.Stand++
	s.ranOut(now, MsgSetPolicy)
	return true
}

// policy resolves the layers as Decide does, to show where values come from.
func (s *State) policy() Policy {
	_, origins, problems := policy.Resolve(s.layers())
	for i := range origins {
		if k, ok := s.setKey(origins[i].Key); ok && origins[i].From == activities.LayerSet {
			note := strings.TrimSpace("set" + byWhom(k.By) + forWhat(k.Reason) + untilText(k.Until))
			if origins[i].Note != "" {
				note += "; " + origins[i].Note
			}
			origins[i].Note = note
		}
	}
	return Policy{Keys: origins, Set: s.Set, Problems: problems}
}

func (s *State) setKey(key string) (SetKey, bool) {
	for _, k := range s.Set {
		if k.Key == key {
			return k, true
		}
	}
	return SetKey{}, false
}

func byWhom(by string) string {
	if by == "" {
		return ""
	}
	return " by " + by
}

func forWhat(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// problemOf is one problem of a message as a whole.
func problemOf(name, format string, args ...any) []core.Problem {
	return []core.Problem{{Path: name, Message: fmt.Sprintf(format, args...)}}
}
