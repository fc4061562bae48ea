package flink

import (
	"fmt"

	"flinkscaler/core"
	"flinkscaler/core/evaluate"
	"flinkscaler/core/policy"
	"flinkscaler/core/scale"
	"flinkscaler/core/stabilize"
)

// Propose decides for every vertex, sorted by id. What is remembered changes
// with it, but scale-downs that wait are not cleared by the proposal as a whole:
// whoever carries it out does that.
func Propose(j scale.Job, book *stabilize.Book, aligner scale.Aligner) []core.VertexDecision {
	if !j.Policy.Quirks.Has(policy.QuirkScaleDownDelay) {
		book.Delays.Freeze(j.Now, j.Policy.Interval, 3*j.Policy.Interval)
	}
	period, noDown := j.Policy.NoDown(j.Now)
	out := make([]core.VertexDecision, 0, len(j.Topology.Vertices))
	for i, v := range j.Topology.Vertices {
		s := settling{job: j, book: book, evidence: j.Evidence.Vertices[i]}
		coefficient, _ := book.Coefficient(v.ID)
		s.d = scale.SizeOf(scale.Input{Vertex: v, Evidence: s.evidence, Policy: j.Policy, Coefficient: coefficient, Aligner: aligner, Now: j.Now})
		s.rest, _ = scale.Rest(v, j.Policy, j.Now)
		switch {
		case s.evidence.Unjudged == "":
			s.settle()
		case s.d.To < s.d.From:
			s.unknown("evidence", s.evidence.Unjudged)
		}
		s.avoid()
		if noDown && s.d.To < s.d.From {
			s.hold(s.d.From, policy.Prefix+"scale-down.excluded.periods", fmt.Sprintf("nothing gets smaller in %s", period), core.ReasonNoDownPeriod)
		}
		out = append(out, s.d)
	}
	if !j.Policy.Quirks.Has(policy.QuirkForward) {
		scale.Equalise(out, j)
	}
	scale.Gate(out)
	return out
}

// settling is a vertex whose size is known, on its way past what happened
// before.
type settling struct {
	job      scale.Job
	book     *stabilize.Book
	evidence evaluate.Vertex
	d        core.VertexDecision
	// rest is the size that it has when nothing is to change: the one now, unless
	// the policy forces another.
	rest int
}

// settle lets a wish to be larger through unless the last one brought too
// little, and holds one to be smaller until its evidence is complete and its
// delay over.
func (s *settling) settle() {
	d := &s.d
	switch {
	case d.Wanted > d.From:
		s.book.Delays.Clear(d.ID)
		d.Why = core.ReasonScaleUp
		s.doubt()
	case d.Wanted == d.From:
		s.book.Delays.Clear(d.ID)
		if d.Outside && limited(*d) {
			d.Why = core.ReasonAtLimit
		}
	case s.job.Evidence.Backlog && !s.job.Policy.Quirks.Has(policy.QuirkBacklog):
		// The delay neither begins nor goes on: what a vertex could do with less
		// is not seen while it works off what is left of another time.
		s.hold(s.rest, policy.Prefix+"backlog-processing.lag-threshold", "nothing gets smaller while a backlog is worked off", core.ReasonWithinTarget)
	case s.evidence.Gap == core.ReasonContradiction:
		s.unknown("evidence without contradiction", s.evidence.Gap)
	case s.evidence.Gap != "":
		// The delay neither begins nor goes on.
		s.unknown("complete evidence", s.evidence.Gap)
	case s.job.Policy.Quirks.Has(policy.QuirkScaleDownDelay):
		s.downAsReleased()
	default:
		s.down()
	}
}

// limited is true where a limit is what keeps a vertex at its size. Where none
// moved the formula's number, no smaller size does the work; and one subtask
// that is idle is well: there is none smaller.
func limited(d core.VertexDecision) bool {
	return len(d.Steps) > 0 && max(1, d.Steps[0].To) != d.From
}

// unknown lets the vertex stay because of what is not known of it (I1): not even
// a hard limit makes it smaller then, but a floor makes it larger.
func (s *settling) unknown(lacks string, why core.Reason) {
	s.hold(max(s.rest, s.d.From), lacks, s.evidence.Note, why)
}

// hold lets the vertex stay, at a size that the policy may force upon it. The
// reason counts where the vertex is outside of its bounds.
func (s *settling) hold(at int, by, note string, why core.Reason) {
	d := &s.d
	scale.Hold(d, at, by, note)
	switch {
	case d.To > d.From:
		d.Why = core.ReasonScaleUp
	case d.To < d.From:
		d.Why = core.ReasonScaleDown
	case d.Outside:
		d.Why = why
	default:
		d.Why = core.ReasonWithinTarget
	}
}

// doubt holds a vertex whose last scale-up brought too little.
func (s *settling) doubt() {
	e := s.book.Judge(s.d)
	s.d.Effect = e
	key := policy.Prefix + "scaling.effectiveness.detection.enabled"
	if e == nil || !e.Blocks {
		if most, ok := s.book.Trial(s.d.ID, s.d.From); ok && s.d.To > max(most, s.rest) && s.job.Policy.EffectivenessDetection {
			scale.Hold(&s.d, max(most, s.rest), key, "a try after a scale-up that brought too little: one step as large as that")
		}
		return
	}
	note := fmt.Sprintf("the last scale-up brought %s/s of %s/s", core.Decimal(core.Read(e.Gain)), core.Decimal(core.Read(e.ExpectedGain)))
	s.hold(s.rest, key, note, core.ReasonIneffective)
}

// avoid keeps a vertex from a size at which the job failed not long ago. What
// the policy forces is not held back: it is an order.
func (s *settling) avoid() {
	if s.d.To == s.d.From || s.d.To == s.rest {
		return
	}
	to, note := s.book.Avoid(s.d.ID, s.d.From, s.d.To)
	if note != "" && to != s.d.To {
		s.hold(to, string(core.ReasonFailedBefore), note, core.ReasonFailedBefore)
	}
}

// down delays a wish to be smaller; what the policy forces does not wait.
func (s *settling) down() {
	d := &s.d
	wish := core.DelayedEntry{At: s.job.Now, Parallelism: d.Wanted, Outside: d.Outside}
	r := s.book.Delays.Down(d.ID, d.From, wish, s.job.Policy.ScaleDownInterval)
	by := policy.Prefix + "scale-down.interval"
	to := min(r.To, s.rest)
	d.Why = core.ReasonScaleDown
	switch {
	case to == d.From:
		note := "as large a size was wanted within the delay"
		if !r.Ready.IsZero() {
			note = fmt.Sprintf("not before %s", r.Ready.UTC().Format("15:04:05 UTC"))
		}
		s.hold(to, by, note, core.ReasonDownDelayed)
	case to != d.Wanted:
		d.Outside = r.Outside || s.rest < d.From
		scale.Hold(d, to, by, "the largest size wanted within the delay")
	default:
		d.Outside = r.Outside || s.rest < d.From
	}
}
