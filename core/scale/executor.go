package scale

import (
	"cmp"
	"fmt"
	"slices"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// Executor has the last word on a change (FLIP-575): it may let it pass, make
// it smaller or larger, leave vertices out of it, or veto it. It must depend on
// nothing but its arguments and its own parameters.
type Executor interface {
	// Priority orders a chain, the smallest first.
	Priority() int
	// Apply gets every vertex of the job, sorted by id, of which at least one
	// changes. Of what it gives only the ids and To count, and the note of a
	// step that it appends; a vertex that it leaves out stays as it is. Nothing
	// at all is a veto, and so is a text.
	Apply(c ExecutorContext, decisions []core.VertexDecision) (changed []core.VertexDecision, veto string)
}

// ExecutorContext is what an Executor may know besides the decisions.
type ExecutorContext struct {
	Job

	// Name is the instance's name in the policy.
	Name string
}

// Named is an executor under its name in the policy.
type Named struct {
	Name     string
	Executor Executor
}

// RunExecutors passes the decisions through a chain, by priority and among
// equals as given. What an executor gives is not trusted: vertices that are not
// known or must not change are ignored, sizes are brought within what the
// policy forces, Flink and the partitions allow, and none becomes smaller than
// it is and than the strategy had decided, which alone knows the evidence (I1).
// A size that was changed leaves a step. A chain ends early where nothing
// changes any more.
// With a veto the decisions are those given; they are never written to.
func RunExecutors(chain []Named, j Job, decisions []core.VertexDecision) (out []core.VertexDecision, veto string) {
	sorted := slices.Clone(chain)
	slices.SortStableFunc(sorted, func(a, b Named) int { return cmp.Compare(a.Executor.Priority(), b.Executor.Priority()) })
	out = clone(decisions)
	for _, n := range sorted {
		if !slices.ContainsFunc(out, changes) {
			return out, ""
		}
		gave, veto := n.Executor.Apply(ExecutorContext{Job: j, Name: n.Name}, clone(out))
		if veto == "" && len(gave) == 0 {
			veto = "gave no vertex back"
		}
		if veto != "" {
			return decisions, n.Name + ": " + veto
		}
		j.obey(out, gave, n.Name)
	}
	return out, ""
}

// clone copies decisions so that nothing is shared.
func clone(decisions []core.VertexDecision) []core.VertexDecision {
	out := slices.Clone(decisions)
	for i := range out {
		out[i].Steps = slices.Clone(out[i].Steps)
	}
	return out
}

// obey takes over what an executor gave, as far as it may.
func (j Job) obey(decisions, gave []core.VertexDecision, name string) {
	at := positions(gave)
	for i := range decisions {
		d := &decisions[i]
		k, given := at[d.ID]
		to, note := d.To, ""
		switch {
		case j.held(d.ID):
		case !given:
			to, note = j.rest(d.ID), "left out"
		case gave[k].To != d.To:
			to, note = j.allowed(*d, gave[k].To), own(*d, gave[k])
			if to != gave[k].To {
				note = joined(note, fmt.Sprintf("it gave %d", gave[k].To))
			}
		}
		if to == d.To {
			continue
		}
		set(d, to, ByExecutor+" "+name, note)
		if to == d.From {
			d.Why = core.ReasonVetoed
		}
	}
}

// rest is the size of a vertex that nothing asks to change.
func (j Job) rest(id string) int {
	v, _ := j.Topology.Find(id)
	to, _ := Rest(v, j.Policy, j.Now)
	return to
}

// own is the note of a step that an executor appended.
func own(before, after core.VertexDecision) string {
	if n := len(after.Steps); n > len(before.Steps) {
		return after.Steps[n-1].Note
	}
	return ""
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// allowed brings a size within limits. No limit forces a change here that was
// not decided: a size that lies outside already may stay.
func (j Job) allowed(d core.VertexDecision, to int) int {
	v, _ := j.Topology.Find(d.ID)
	to = RangeOf(v, j.Policy, j.Now).Clamp(max(to, min(d.From, d.To)))
	if to < min(d.From, d.To) {
		return d.To
	}
	return to
}

// Extensions are the plugins that a policy can name, by class.
type Extensions struct {
	Aligners  map[string]func([]policy.Param) (Aligner, error)
	Executors map[string]func([]policy.Param) (Executor, error)
}

// BuiltIn are the plugins that come with flinkscaler. Each call makes new maps:
// whoever builds a program of its own adds to them.
func BuiltIn() Extensions {
	return Extensions{
		Aligners: map[string]func([]policy.Param) (Aligner, error){
			ClassMultipleOf: newMultipleOf,
		},
		Executors: map[string]func([]policy.Param) (Executor, error){
			ClassMaxTotal:     newMaxTotal,
			ClassFollowSource: newFollowSource,
		},
	}
}
