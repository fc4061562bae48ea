package stabilize

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/evaluate"
	"flinkscaler/core/policy"
)

// What a lag must be to prove that a size is too small.
const (
	// leastLooks is how many looks must show it: two per half of the window.
	leastLooks = 4
	// sameLoad is how many times what it was before the load may be. A size that
	// was right carries that without a thought; more is no fault of the size.
	sameLoad = 1.1
	// heldBackMs is the mean back pressure in ms per second from which on a vertex
	// waits for another one.
	heldBackMs = 100
)

// LagObjective is how far behind its sources a job may be: the policy's
// objective, else what it calls a backlog; 0 for no limit.
func LagObjective(p policy.Policy) time.Duration {
	if p.ObjectiveLag > 0 {
		return p.ObjectiveLag
	}
	return p.BacklogLagThreshold
}

// BeforeOf is what a change that makes something smaller will be held against:
// nil unless a strategy decided it, and all evidence shows a job on time. What a
// person ordered is not ours to take back for its lag.
func BeforeOf(d core.Decision, e evaluate.Result, t core.Topology, p policy.Policy) *core.Before {
	strategys := d.Reason == core.ReasonScaleDown || d.Reason == core.ReasonScaleUp
	objective := LagObjective(p)
	if d.Verdict != core.Change || !strategys || !d.Shrinks() || objective == 0 || p.UndoLagWithin == 0 || !complete(e, t) {
		return nil
	}
	b := core.Before{DecisionID: d.ID}
	for _, v := range d.Vertices {
		x, _ := e.Find(v.ID)
		source := isSource(t, v.ID)
		if source {
			b.Late = max(b.Late, behind(x))
		}
		if rate, ok := x.TargetRate.Value(); ok && (source || v.To < v.From) {
			b.Rates = append(b.Rates, core.VertexRate{ID: v.ID, Rate: rate})
		}
	}
	if b.Late > objective {
		return nil
	}
	return &b
}

// FellBehind gives the size before a change that made something smaller, where
// that shows to be too little: the job was on time before it, and is now further
// behind than it may be and falls behind further, under no more load. Vertices
// that the change made larger stay so. It is empty where anything of that is not
// known for certain, where the size is no longer the one of the change, or where
// something else holds back what got smaller.
//
// The records of the restart itself are allowed for until catch-up.duration is
// over; a lag that shrinks is none in any case.
func FellBehind(m core.Memory, t core.Topology, e evaluate.Result, samples []core.Sample, now time.Time, p policy.Policy) (back []core.VertexSize, why string) {
	if m.Trial == nil || m.Trial.Before == nil || m.Foreign != nil || len(samples) < leastLooks || !complete(e, t) {
		return nil, ""
	}
	trial, before := *m.Trial, *m.Trial.Before
	age := now.Sub(trial.Since)
	if age > p.UndoLagWithin || !slices.Equal(t.Sizes(), before.Got) || grew(before, e) || waitsForOthers(trial, samples) {
		return nil, ""
	}
	id, lag := furthestBehind(t, e, samples)
	allowed := LagObjective(p)
	if allowed == 0 || lag <= allowed {
		return nil, ""
	}
	restart := ""
	if age < p.CatchUp {
		if lag <= allowed+before.Down {
			return nil, ""
		}
		restart = fmt.Sprintf(" and %s for the restart", shown(before.Down))
	}
	back = largerOf(trial.Back, before.Got)
	if slices.Equal(back, before.Got) {
		return nil, ""
	}
	first, _ := samples[0].Vertex(id)
	last, _ := samples[len(samples)-1].Vertex(id)
	v, _ := e.Find(id)
	return back, fmt.Sprintf("since decision %s %s is %s behind at %s/s, more than %s%s, and falls behind further (%s records, then %s in %s); before it was %s behind at %s/s",
		trial.DecisionID, t.Title(id, 40), shown(lag), core.Decimal(v.TargetRate), policy.FormatDuration(allowed), restart,
		core.Decimal(first.Lag), core.Decimal(last.Lag), shown(samples[len(samples)-1].At.Sub(samples[0].At)), shown(before.Late), rateBefore(before, id))
}

// complete is true when all that an evaluation needs of every vertex is there.
// What contradicts itself is all there.
func complete(e evaluate.Result, t core.Topology) bool {
	for _, v := range t.Vertices {
		x, ok := e.Find(v.ID)
		gap := x.Gap != "" && x.Gap != core.ReasonContradiction
		if !ok || gap || (x.Unjudged != "" && x.Unjudged != core.ReasonExcluded) {
			return false
		}
	}
	return !e.Failed
}

func isSource(t core.Topology, id string) bool {
	v, ok := t.Find(id)
	return ok && v.IsSource()
}

func behind(v evaluate.Vertex) time.Duration { return Behind(v.Lag, v.TargetRate) }

// Behind is how long a source needs to read its lag (records) at the rate at
// which records arrive (per second): 0 where there is none or it is not known, a
// year at most.
func Behind(lag, rate core.Reading) time.Duration {
	records, ok1 := lag.Value()
	perSecond, ok2 := rate.Value()
	if !ok1 || !ok2 || records <= 0 {
		return 0
	}
	if perSecond <= 0 {
		return farBehind
	}
	return time.Duration(min(records/perSecond, farBehind.Seconds()) * float64(time.Second))
}

// farBehind stands for a lag at which nothing arrives to measure it by.
const farBehind = 365 * 24 * time.Hour

// furthestBehind is the source that is furthest behind, of those that fall
// behind further.
func furthestBehind(t core.Topology, e evaluate.Result, samples []core.Sample) (id string, late time.Duration) {
	for _, v := range t.Vertices {
		if !v.IsSource() || !falls(samples, v.ID) {
			continue
		}
		if x, _ := e.Find(v.ID); behind(x) > late {
			id, late = v.ID, behind(x)
		}
	}
	return id, late
}

// falls is true for a source that falls behind all the time: whatever waited in
// the later half of the looks is more than whatever waited in the earlier one.
func falls(samples []core.Sample, id string) bool {
	most, least, half := 0.0, 0.0, len(samples)/2
	for i, s := range samples {
		v, _ := s.Vertex(id)
		lag, ok := v.Lag.Value()
		switch {
		case !ok:
			return false
		case i < half:
			most = max(most, lag)
		case i == half:
			least = lag
		default:
			least = min(least, lag)
		}
	}
	return least > most
}

// grew is true when there is more to do than before the change, or when what
// there was is not known.
func grew(b core.Before, e evaluate.Result) bool {
	return slices.ContainsFunc(b.Rates, func(r core.VertexRate) bool {
		v, _ := e.Find(r.ID)
		now, ok := v.TargetRate.Value()
		return !ok || now > sameLoad*r.Rate
	})
}

// waitsForOthers is true when every vertex that the change made smaller waits for
// one that reads from it and did not get smaller.
func waitsForOthers(t core.Trial, samples []core.Sample) bool {
	for _, v := range t.Before.Got {
		if was, ok := core.FindSize(t.Back, v.ID); !ok || was <= v.Parallelism {
			continue
		}
		sum, n := 0.0, 0
		for _, s := range samples {
			x, _ := s.Vertex(v.ID)
			if ms, ok := x.BackPressure.Value(); ok {
				sum, n = sum+ms, n+1
			}
		}
		if n == 0 || sum/float64(n) < heldBackMs {
			return false
		}
	}
	return true
}

// largerOf takes the larger size of each vertex; a has all of b.
func largerOf(a, b []core.VertexSize) []core.VertexSize {
	out := slices.Clone(b)
	for i := range out {
		was, _ := core.FindSize(a, out[i].ID)
		out[i].Parallelism = max(out[i].Parallelism, was)
	}
	return out
}

func rateBefore(b core.Before, id string) string {
	i, ok := slices.BinarySearchFunc(b.Rates, id, func(r core.VertexRate, id string) int { return strings.Compare(r.ID, id) })
	if !ok {
		return "?"
	}
	return core.Decimal(core.Read(b.Rates[i].Rate))
}
