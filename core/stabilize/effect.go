package stabilize

import (
	"math"
	"slices"
	"strings"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// Judge looks at what the last scale-up of a vertex brought, when the vertex
// wants to be larger again: only then it matters, and only then the vertex is
// loaded enough for its rate to be known. It gives nil when the scale-up
// brought enough or there is nothing to judge, and the doubts after this look.
//
// Detection on, a first look that shows too little only holds the vertex until
// the next one; as many in a row as the policy asks for are a verdict, which
// ends by itself. After that the same scale-up is not judged again: the vertex
// gets its try, and that one is judged on its own evidence. Detection off, all
// is counted but nothing is held.
//
// One look must be judged once: each call is a proof.
func Judge(h core.VertexHistory, v core.VertexDecision, doubts []core.Doubt, now time.Time, p policy.Policy) (*core.Effect, []core.Doubt) {
	if v.Wanted <= v.From {
		return nil, doubts
	}
	c, ok := lastUp(h, v.From)
	if !ok {
		return nil, withoutDoubt(doubts, v.ID)
	}
	gain, expected, ok := gains(c, v, p)
	if !ok {
		return nil, doubts
	}
	if effective(gain, expected, p) {
		return nil, withoutDoubt(doubts, v.ID)
	}
	d := doubtOf(doubts, v.ID, c.At)
	if !ended(d, now) {
		d = prove(d, now, p)
	}
	e := &core.Effect{
		ExpectedGain: core.Round3(expected), Gain: core.Round3(gain),
		Proofs: d.Proofs, Blocks: blocks(d, now, p), Until: d.Until,
	}
	return e, withDoubt(doubts, d)
}

// lastUp is the last change of a vertex, if it was a scale-up to the size at
// which it runs now. After a change by somebody else there is none.
func lastUp(h core.VertexHistory, size int) (core.Scaled, bool) {
	changes := happened(h.Changes, size)
	if len(changes) == 0 {
		return core.Scaled{}, false
	}
	c := changes[len(changes)-1]
	return c, c.Size() == size && c.Size() > c.From
}

// gains is what a scale-up brought and what it was to bring, in records per
// second, at the size that was reached (BC-20b): the size that was wanted may
// have been cut by partitions or slots. It is false when that cannot be
// measured. The Java autoscaler expects the wanted size, and takes what it
// cannot measure for ineffective.
func gains(c core.Scaled, v core.VertexDecision, p policy.Policy) (gain, expected float64, ok bool) {
	before, ok1 := c.TrueRate.Value()
	after, ok2 := v.TrueRate.Value()
	hoped, ok3 := c.Expected().Value()
	if !ok1 || !ok2 || !ok3 || unloaded(v, p) {
		return 0, 0, false
	}
	gain, expected = after-before, hoped-before
	return gain, expected, expected > 0 && !math.IsInf(gain, 0)
}

// unloaded is true for a vertex that is busy so little that its true rate, the
// rate over the busy share, is mostly noise (BC-20c).
func unloaded(v core.VertexDecision, p policy.Policy) bool {
	load, ok := v.Load.Value()
	return ok && load < p.UtilizationMin
}

func effective(gain, expected float64, p policy.Policy) bool {
	return gain/expected >= p.EffectivenessThreshold
}

// prove adds one look to a doubt, and makes a verdict of it when there are
// enough.
func prove(d core.Doubt, now time.Time, p policy.Policy) core.Doubt {
	d.Proofs++
	if p.EffectivenessDetection && d.Until.IsZero() && d.Proofs >= p.EffectivenessProofs {
		d.Until = now.Add(longer(p.EffectivenessExpiry, d.Trials))
	}
	return d
}

// longestVerdict bounds how long a verdict grows by trials in vain.
const longestVerdict = 24 * time.Hour

// longer doubles a verdict with each trial in vain before it: a vertex that
// cannot gain by more subtasks must not grow each hour (BC-20a).
func longer(expiry time.Duration, trials int) time.Duration {
	for range min(trials, 32) {
		if expiry >= longestVerdict {
			break
		}
		expiry *= 2
	}
	return max(expiry, 0)
}

// Trial is the largest size that a vertex may try after a verdict has ended: one
// step as large as the one that brought too little. What waits meanwhile makes
// the wish for more larger, but no more likely to help. It is false where there
// was no verdict.
func Trial(h core.VertexHistory, size int, doubts []core.Doubt, now time.Time) (int, bool) {
	c, ok := lastUp(h, size)
	i, found := slices.BinarySearchFunc(doubts, h.ID, doubtByID)
	if !ok || !found || !doubts[i].Change.Equal(c.At) || !ended(doubts[i], now) {
		return 0, false
	}
	return size + max(1, c.Size()-c.From), true
}

// blocks is true when a doubt holds its vertex: already while there are too few
// proofs, since a vertex that grew meanwhile could never be proved anything.
func blocks(d core.Doubt, now time.Time, p policy.Policy) bool {
	return p.EffectivenessDetection && d.Proofs > 0 && !ended(d, now)
}

// ended is true when the verdict is over.
func ended(d core.Doubt, now time.Time) bool { return !d.Until.IsZero() && !now.Before(d.Until) }

func doubtByID(d core.Doubt, id string) int { return strings.Compare(d.ID, id) }

// doubtOf is the doubt in one change of a vertex. Of one in another change of it
// only the number of trials is kept, one more where it had come to a verdict.
func doubtOf(doubts []core.Doubt, id string, change time.Time) core.Doubt {
	d := core.Doubt{ID: id, Change: change}
	i, ok := slices.BinarySearchFunc(doubts, id, doubtByID)
	switch {
	case !ok:
	case doubts[i].Change.Equal(change):
		return doubts[i]
	case doubts[i].Until.IsZero():
		d.Trials = doubts[i].Trials
	default:
		d.Trials = doubts[i].Trials + 1
	}
	return d
}

func withDoubt(doubts []core.Doubt, d core.Doubt) []core.Doubt {
	out := slices.Clone(doubts)
	i, ok := slices.BinarySearchFunc(out, d.ID, doubtByID)
	if !ok {
		return slices.Insert(out, i, d)
	}
	out[i] = d
	return out
}

func withoutDoubt(doubts []core.Doubt, id string) []core.Doubt {
	i, ok := slices.BinarySearchFunc(doubts, id, doubtByID)
	if !ok {
		return doubts
	}
	if len(doubts) == 1 {
		return nil
	}
	return slices.Delete(slices.Clone(doubts), i, i+1)
}

// RetainDoubts drops the doubts in changes that are no longer the last of their
// vertex: another change came after, or it is forgotten. One that came to a
// verdict stays until the try after it is judged.
func RetainDoubts(doubts []core.Doubt, changes []core.VertexHistory) []core.Doubt {
	var out []core.Doubt
	for _, d := range doubts {
		h := Find(changes, d.ID).Changes
		tried := !d.Until.IsZero() || d.Trials > 0
		if n := len(h); n > 0 && (h[n-1].At.Equal(d.Change) || (tried && n > 1 && h[n-2].At.Equal(d.Change))) {
			out = append(out, d)
		}
	}
	return out
}
