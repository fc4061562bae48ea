package oracle

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Verdict is what one side made of one cycle, in words that both share.
type Verdict struct {
	// Full is true when the window was full.
	Full bool
	// Decided is true when sizes are to be changed.
	Decided bool
	// Vertices are sorted by id, empty when nothing was evaluated.
	Vertices []VertexVerdict
	// Broken says that our side could not judge at all: it never equals anything.
	Broken string
	// Note says why, for people; it is not compared.
	Note string
}

// VertexVerdict holds the numbers of one vertex: NaN where there is none, +Inf where there is no bound.
type VertexVerdict struct {
	ID                                             string
	Target, CatchUp, TrueRate, Up, Down, Load, Lag float64
	// From is the size now, To the wanted one, even when it may not be carried out.
	From, To int
}

// JavaVerdict puts an answer of the Java autoscaler into the words that both sides share.
func JavaVerdict(a Answer) Verdict {
	v := Verdict{Full: a.Full && a.Samples >= 2, Decided: a.Decided}
	for _, e := range a.Events {
		v.Note += e.Reason + ": " + e.Message + "; "
	}
	for id, m := range a.Vertices {
		get := func(name string) float64 {
			x, ok := m[name]
			if !ok {
				return math.NaN()
			}
			return float64(x)
		}
		from := int(get("PARALLELISM.current"))
		v.Vertices = append(v.Vertices, VertexVerdict{
			ID: id, Target: get("TARGET_DATA_RATE.average"), CatchUp: get("CATCH_UP_DATA_RATE.current"), TrueRate: finite(get("TRUE_PROCESSING_RATE.average")),
			Up: get("SCALE_UP_RATE_THRESHOLD.current"), Down: get("SCALE_DOWN_RATE_THRESHOLD.current"), Load: get("LOAD.average"), Lag: get("LAG.current"),
			From: from, To: from,
		})
	}
	slices.SortFunc(v.Vertices, func(a, b VertexVerdict) int { return strings.Compare(a.ID, b.ID) })
	for _, c := range a.Summary {
		for i := range v.Vertices {
			if v.Vertices[i].ID == c.ID {
				v.Vertices[i].To = c.To
			}
		}
	}
	return v
}

// Differ tells how two verdicts on the same cycle differ, empty when they do not.
func Differ(java, ours Verdict) []string {
	var out []string
	add := func(what string, j, o any) { out = append(out, fmt.Sprintf("%s: java %v, ours %v", what, j, o)) }
	if ours.Broken != "" {
		return []string{"ours is broken: " + ours.Broken}
	}
	if java.Full != ours.Full {
		add("window full", java.Full, ours.Full)
	}
	if java.Decided != ours.Decided {
		add("decided", java.Decided, ours.Decided)
	}
	if len(java.Vertices) != len(ours.Vertices) {
		add("evaluated vertices", len(java.Vertices), len(ours.Vertices))
		return out
	}
	for i, j := range java.Vertices {
		out = append(out, differVertex(j, ours.Vertices[i])...)
	}
	return out
}

func differVertex(j, o VertexVerdict) []string {
	if j.ID != o.ID {
		return []string{fmt.Sprintf("vertex: java %s, ours %s", j.ID, o.ID)}
	}
	var out []string
	for _, x := range []struct {
		what       string
		java, ours float64
	}{
		{"target rate", j.Target, o.Target}, {"catch-up rate", j.CatchUp, o.CatchUp}, {"true rate", j.TrueRate, o.TrueRate},
		{"up below", j.Up, o.Up}, {"down above", j.Down, o.Down}, {"load", j.Load, o.Load}, {"lag", j.Lag, o.Lag},
		{"size", float64(j.From), float64(o.From)}, {"new size", float64(j.To), float64(o.To)},
	} {
		if !same(x.java, x.ours) {
			out = append(out, fmt.Sprintf("%s %s: java %v, ours %v", j.ID[:6], x.what, x.java, x.ours))
		}
	}
	return out
}

// same is equality to the last bit, but that no number is as good as another and zero has no sign.
func same(a, b float64) bool { return a == b || (math.IsNaN(a) && math.IsNaN(b)) }

// finite is a rate as our readings can hold it: one that is negative without bound is the least there is.
func finite(rate float64) float64 { return math.Max(rate, -math.MaxFloat64) }
