package evaluate

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// TestOneBadVertexIsAlone is I2: whatever the numbers of one vertex are, or
// however many are missing, nothing that is no number leaves, a vertex that is
// judged has all that a decision needs, and what is not downstream of the bad
// one is judged as if it were well.
func TestOneBadVertexIsAlone(t *testing.T) {
	t.Parallel()
	topology := core.Topology{Vertices: []core.Vertex{
		vertex("a", 2), vertex("b", 3), vertex("c", 4, "a"), vertex("d", 5, "a", "b"), vertex("e", 6, "c", "d"),
	}}
	row := func(n float64) []core.VertexSample {
		return []core.VertexSample{
			src("a", n, n, 500, n/10), src("b", 2*n, n, 300, 0), op("c", n, n, 900), op("d", 2*n, n, 100), op("e", 2*n, 0, 700),
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		p := policy.Default()
		p.BusyTimeAggregator = rapid.SampledFrom([]policy.Aggregator{policy.AggregateMax, policy.AggregateMin, policy.AggregateAvg}).Draw(t, "aggregator")
		fine := samples(row(0), row(1000), row(2000))
		for i := range fine {
			for j := range fine[i].Vertices {
				fine[i].Vertices[j].BusyTotal = core.Read(float64(i) * 400)
			}
		}
		want := Evaluate(Input{Topology: topology, Samples: fine, Policy: p})
		bad := rapid.IntRange(0, 4).Draw(t, "bad")
		hurt := slices.Clone(fine)
		for i := range hurt {
			hurt[i].Vertices = slices.Clone(hurt[i].Vertices)
			hostile(t, &hurt[i].Vertices[bad])
		}
		got := Evaluate(Input{Topology: topology, Samples: hurt, Policy: p})
		for i, v := range got.Vertices {
			if v.Unjudged == "" {
				whole(t, v)
			}
			id := topology.Vertices[bad].ID
			reached := v.ID == id || slices.Contains(topology.Upstream(v.ID), id)
			if !reached && got.Backlog == want.Backlog {
				if diff := cmp.Diff(want.Vertices[i], v); diff != "" {
					t.Fatalf("%s is hurt by %s (-well +hurt):\n%s", v.ID, id, diff)
				}
			}
		}
	})
}

func hostile(t *rapid.T, v *core.VertexSample) {
	draw := func(name string) core.Reading {
		return rapid.SampledFrom([]core.Reading{
			{}, core.Absent(core.Incomplete), core.Absent(core.Stale), core.Absent(core.NotApplicable),
			core.Read(0), core.Read(-1), core.Read(1e-300), core.Read(1e308), core.Read(-1e308), core.Read(math.NaN()), core.Read(math.Inf(1)), core.Read(42),
		}).Draw(t, name)
	}
	v.RecordsIn, v.RecordsOut, v.InPerSecond = draw("in"), draw("out"), draw("ips")
	v.BusyMin, v.BusyAvg, v.BusyMax, v.BusyTotal = draw("min"), draw("avg"), draw("max"), draw("total")
	v.BackPressure, v.Lag = draw("back"), draw("lag")
}

// whole fails for a vertex that is judged without a number it needs.
func whole(t *rapid.T, v Vertex) {
	there := func(r core.Reading) bool {
		f, ok := r.Value()
		return ok && !math.IsNaN(f) && !math.IsInf(f, 0)
	}
	rate := there(v.TrueRate) || (v.Idle && v.TrueRate.State() == core.NotApplicable)
	down := there(v.DownAbove) || v.DownAbove.State() == core.NotApplicable
	if !there(v.TargetRate) || !there(v.CatchUpRate) || !there(v.UpBelow) || !there(v.Capacity) || !rate || !down {
		t.Fatalf("judged without a number that it needs: %+v", v)
	}
}
