package chaos

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"flinkscaler/core"
)

// Verdict lists what must not be, a sentence each with its evidence.
type Verdict struct {
	// WrongScaleDowns are writes that make a vertex smaller and that no order, no
	// undo and no decision on the true load asked for.
	WrongScaleDowns []string
	// DoubleRescales are decisions with more than one effect, and effects without
	// a decision.
	DoubleRescales []string
	// LostDecisions are orders without an effect, changes without an outcome,
	// outcomes that nobody was told, and jobs that did not come to rest at what was
	// decided.
	LostDecisions []string
}

// Failed is true when anything was found.
func (v Verdict) Failed() bool {
	return len(v.WrongScaleDowns)+len(v.DoubleRescales)+len(v.LostDecisions) > 0
}

// about is true when something was found that is about a job.
func (v Verdict) about(job string) bool {
	return slices.ContainsFunc(slices.Concat(v.WrongScaleDowns, v.DoubleRescales, v.LostDecisions), func(found string) bool {
		return strings.Contains(found, job+" ") || strings.Contains(found, job+":")
	})
}

// Judge says what of a run must not be. It is pure.
func Judge(r Record) Verdict {
	j := judge{Record: r}
	j.effects()
	j.carriedOut()
	j.ordered()
	j.ended()
	return j.out
}

type judge struct {
	Record
	out Verdict
}

// life is one submission of a job: what was asked of it is forgotten with it.
type life struct {
	jobID string
	life  int
}

// effect is a write that changed what is in force.
type effect struct {
	Write
	was core.Requirements
}

// effects judges each write that changed something.
func (j *judge) effects() {
	byDecision := map[string][]effect{}
	var decisions []string
	for _, e := range j.changes() {
		a := j.asked(e.Write)
		j.smaller(e, a)
		if a == nil {
			j.out.DoubleRescales = append(j.out.DoubleRescales, "an effect that no decision asked for: "+e.text())
			continue
		}
		key := fmt.Sprintf("%s decision %s on %s/%d", a.Job, a.Decision, e.JobID, e.Life)
		if byDecision[key] == nil {
			decisions = append(decisions, key)
		}
		byDecision[key] = append(byDecision[key], e)
	}
	for _, key := range decisions {
		if list := byDecision[key]; len(list) > 1 {
			lines := make([]string, 0, len(list))
			for _, e := range list {
				lines = append(lines, e.text())
			}
			j.out.DoubleRescales = append(j.out.DoubleRescales, fmt.Sprintf("%s has %d effects:\n  %s", key, len(list), strings.Join(lines, "\n  ")))
		}
	}
}

// changes gives the writes that had an effect. One without an answer had it
// when the next look at what is in force shows it; without such a look it counts
// as one that had none.
func (j *judge) changes() []effect {
	var out []effect
	held := map[life]core.Requirements{}
	for i, w := range j.Writes {
		at := life{w.JobID, w.Life}
		was := w.Before
		if was == nil {
			was = held[at]
		}
		if !j.took(i) {
			held[at] = was
			continue
		}
		held[at] = w.Body
		if !slices.Equal(was, w.Body) {
			out = append(out, effect{w, was})
		}
	}
	return out
}

func (j *judge) took(i int) bool {
	w := j.Writes[i]
	if w.Status != 0 {
		return w.Status == http.StatusOK
	}
	for _, next := range j.Writes[i+1:] {
		if next.JobID == w.JobID && next.Life == w.Life && next.Before != nil {
			return slices.Equal(next.Before, w.Body)
		}
	}
	return false
}

// asked finds the decision behind a write: the one that was being applied when
// it was sent. Rescales of a target never overlap.
func (j *judge) asked(w Write) *Ask {
	for i := range j.Asks {
		a := &j.Asks[i]
		if a.JobID == w.JobID && slices.Equal(a.Wish, w.Body) && !w.At.Before(a.From.Add(-skew)) && (w.Repeat || !w.At.After(a.Until.Add(skew))) {
			return a
		}
	}
	return nil
}

// skew is what the clocks of programs on one machine may differ, and what passes
// between a request and the note of it.
const skew = 2 * time.Second

// loadMemory is for how long a load that ended may still be decided on: a window,
// delays, and the wait for a worker that was killed.
const loadMemory = 2 * time.Minute

// smaller judges an effect that makes vertices smaller.
func (j *judge) smaller(e effect, a *Ask) {
	for _, b := range e.Body {
		was, ok := e.was.Of(b.ID)
		if !ok || b.Upper >= was.Upper {
			continue
		}
		why := ""
		switch {
		case a == nil:
			why = "nobody asked for it"
		case a.Undo, a.Cause == core.ReasonUndo:
		case a.Cause == core.ReasonOverride:
			if !slices.ContainsFunc(j.Orders, func(o Order) bool {
				return o.Job == a.Job && o.Parallelism == b.Upper && !o.Sent.After(e.At)
			}) {
				why = "it is taken for an order, and there was none"
			}
		default:
			if least := j.least(a.Job, b.ID, e.At); b.Upper < least {
				why = fmt.Sprintf("the load needs %d", least)
			}
		}
		if why != "" {
			j.out.WrongScaleDowns = append(j.out.WrongScaleDowns, fmt.Sprintf("vertex %s %d -> %d, but %s: %s", b.ID, was.Upper, b.Upper, why, e.text()))
		}
	}
}

// least is what the load needs of a vertex, at the least that it did lately.
func (j *judge) least(job, vertex string, at time.Time) int {
	out := -1
	for i, n := range j.Needs {
		if n.Job != job || n.Since.After(at) {
			continue
		}
		end := at
		for _, next := range j.Needs[i+1:] {
			if next.Job == job {
				end = next.Since
				break
			}
		}
		if end.Before(at.Add(-loadMemory)) {
			continue
		}
		if p := n.Least[vertex]; out < 0 || p < out {
			out = p
		}
	}
	return max(out, 1)
}

// carriedOut: each change has a rescale, each rescale an outcome, and each
// outcome was shown.
func (j *judge) carriedOut() {
	lost := func(format string, args ...any) {
		j.out.LostDecisions = append(j.out.LostDecisions, fmt.Sprintf(format, args...))
	}
	shown := map[Shown]bool{}
	for _, s := range j.Shown {
		shown[s] = true
	}
	begun := map[Shown]bool{}
	for _, r := range j.Rescales {
		begun[Shown{r.Job, r.Decision, true}] = true
		switch {
		case r.Outcome == nil:
			lost("%s: the rescale of decision %s ended without an outcome (%s)", r.Job, r.Decision, r.Status)
		case !slices.Contains(outcomes(), r.Outcome.Kind):
			lost("%s: the rescale of decision %s ended as %q", r.Job, r.Decision, r.Outcome.Kind)
		case !shown[Shown{r.Job, r.Decision, false}]:
			lost("%s: the rescale of decision %s ended as %s, which no history shows", r.Job, r.Decision, r.Outcome.Kind)
		}
	}
	told := map[Shown]bool{}
	for _, s := range j.Shown {
		if s.Change && !begun[s] && !told[s] {
			told[s] = true
			lost("%s: history shows the change %s, and no rescale was ever begun for it", s.Job, s.Decision)
		}
	}
}

func outcomes() []core.OutcomeKind {
	return []core.OutcomeKind{core.Applied, core.Partial, core.Rejected, core.Undone, core.Failed}
}

// ordered: each order that was accepted was asked of Flink, unless Flink held it
// already, came to it otherwise, as by an undo, or an operator ended the workflow
// that took it.
func (j *judge) ordered() {
	for _, o := range j.Orders {
		done := o.Ended || all(o.Had, o.Parallelism) || slices.ContainsFunc(j.Asks, func(a Ask) bool {
			return a.Job == o.Job && a.Cause == core.ReasonOverride && all(a.Wish, o.Parallelism) && a.Until.After(o.Sent)
		}) || slices.ContainsFunc(j.Ends, func(e End) bool {
			return e.Job == o.Job && e.At.After(o.Sent) && e.at(o.Parallelism)
		})
		if !done {
			j.out.LostDecisions = append(j.out.LostDecisions, fmt.Sprintf("%s: order %s to run at %d was accepted, and nothing was ever asked of Flink", o.Job, o.ID, o.Parallelism))
		}
	}
}

// ended: after each fault the job is at rest, and what is told is what runs.
func (j *judge) ended() {
	for _, e := range j.Ends {
		why := e.Stuck
		switch {
		case why != "":
		case len(e.Runs) == 0 || !slices.Equal(e.Told, e.Runs):
			why = fmt.Sprintf("the workflow tells %v, Flink shows %v", e.Told, e.Runs)
		case e.Last == nil:
			why = "no outcome is shown"
		case !slices.Contains(outcomes(), e.Last.Kind):
			why = fmt.Sprintf("the last outcome is %q", e.Last.Kind)
		}
		if why != "" {
			j.out.LostDecisions = append(j.out.LostDecisions, fmt.Sprintf("%s after fault %d (%s at %s): %s", e.Job, e.Fault.Number, e.Fault.Kind, e.Fault.Step, why))
		}
	}
}

// at is true where everything ran at a size.
func (e End) at(size int) bool {
	return len(e.Runs) > 0 && !slices.ContainsFunc(e.Runs, func(r core.VertexSize) bool { return r.Parallelism != size })
}

func (e effect) text() string {
	return fmt.Sprintf("%s %s %s: %s -> %s (status %d, repeat %v)", e.Job, e.At.UTC().Format("15:04:05.000"), e.JobID, uppers(e.was), uppers(e.Body), e.Status, e.Repeat)
}

func uppers(r core.Requirements) string {
	if r == nil {
		return "unknown"
	}
	parts := make([]string, 0, len(r))
	for _, b := range r {
		parts = append(parts, fmt.Sprintf("%.8s %d..%d", b.ID, b.Lower, b.Upper))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
