package strategy

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// world is a job for properties: a graph, what arrives, and what one subtask
// of each vertex can do. Loads are whole thousandths, so that rounding of busy
// time does not blur a property.
type world struct {
	topology core.Topology
	in       []float64 // records per second
	out      []float64
	permille []float64 // busy ms per second
	lag      []float64
}

func id(i int) string { return fmt.Sprintf("v%02d", i) }

// drawWorld makes a graph in which each vertex reads from some before it.
func drawWorld(t *rapid.T) world {
	var w world
	n := rapid.IntRange(1, 6).Draw(t, "vertices")
	for i := range n {
		v := core.Vertex{ID: id(i), Name: "vertex " + id(i), Parallelism: rapid.IntRange(1, 60).Draw(t, "parallelism")}
		if i > 0 && rapid.IntRange(0, 3).Draw(t, "as large as the one before") == 0 {
			v.Parallelism = w.topology.Vertices[i-1].Parallelism
		}
		v.SlotGroup = rapid.SampledFrom([]string{"g", "h"}).Draw(t, "slot group")
		v.MaxParallelism = max(v.Parallelism, rapid.SampledFrom([]int{12, 128, 720}).Draw(t, "max"))
		for from := range i {
			if rapid.IntRange(0, 2).Draw(t, "edge") == 0 {
				v.Inputs = append(v.Inputs, core.Edge{From: id(from), Ship: rapid.SampledFrom([]core.ShipStrategy{core.ShipHash, "REBALANCE", core.ShipForward}).Draw(t, "ship")})
			}
		}
		if v.IsSource() && rapid.Bool().Draw(t, "partitioned") {
			v.Partitions = rapid.IntRange(1, 80).Draw(t, "partitions")
		}
		w.topology.Vertices = append(w.topology.Vertices, v)
		load := float64(rapid.IntRange(1, 1000).Draw(t, "load"))
		w.permille = append(w.permille, load)
		// A rate that makes the true rate a whole number.
		w.in = append(w.in, load*float64(rapid.IntRange(10, 5000).Draw(t, "rate")))
		w.out = append(w.out, w.in[i]*float64(rapid.IntRange(0, 3).Draw(t, "fan")))
		w.lag = append(w.lag, 0)
	}
	return w
}

func drawPolicy(t *rapid.T) policy.Policy {
	p := policy.Default()
	p.ScaleDownInterval = 0
	p.UtilizationTarget = float64(rapid.IntRange(40, 80).Draw(t, "target")) / 100
	p.UtilizationMax = min(1, p.UtilizationTarget+0.2)
	p.UtilizationMin = p.UtilizationTarget - 0.2
	p.MinParallelism = rapid.IntRange(1, 5).Draw(t, "least")
	p.MaxParallelism = rapid.IntRange(5, 200).Draw(t, "most")
	p.ScaleDownMaxFactor = float64(rapid.IntRange(2, 10).Draw(t, "down")) / 10
	p.ScaleUpMaxFactor = float64(rapid.IntRange(1, 50).Draw(t, "up"))
	p.Alignment = rapid.SampledFrom([]policy.Alignment{
		policy.AlignBalanced, policy.AlignEvenlySpread, policy.AlignOff, policy.AlignLegacyEvenlySpread, policy.AlignLegacyMaximize,
	}).Draw(t, "alignment")
	p.BusyTimeAggregator = rapid.SampledFrom([]policy.Aggregator{policy.AggregateMax, policy.AggregateMin, policy.AggregateAvg}).Draw(t, "aggregator")
	p.AlignOvershoot = rapid.SampledFrom([]float64{0, 0.5, 1e5}).Draw(t, "overshoot")
	p.AlignSlots = rapid.Bool().Draw(t, "whole TaskManagers")
	if rapid.IntRange(0, 2).Draw(t, "hard limits") == 0 {
		p.HardMin = rapid.IntRange(0, 4).Draw(t, "hard least")
		p.HardMax = rapid.IntRange(max(4, p.MinParallelism), 70).Draw(t, "hard most")
	}
	return p
}

// context makes a full window of the world, one sample a minute.
func (w world) context(p policy.Policy) core.JobContext {
	n := int(p.MetricsWindow/time.Minute) + 1
	running := t0()
	first := running.Add(p.StabilizationInterval)
	ctx := core.JobContext{Key: core.JobKey{Cluster: "c", Job: "j"}, JobID: "id", Cycle: 7, Topology: w.topology, Now: first.Add(time.Duration(n-1) * time.Minute)}
	ctx.Config = map[string]string{"taskmanager.numberOfTaskSlots": "3"}
	for k := range n {
		at := first.Add(time.Duration(k) * time.Minute)
		s := core.Sample{At: at, RunningSince: running, Clock: core.Read(float64(k+1) * 1e9)}
		seconds := at.Sub(running).Seconds()
		for i, v := range w.topology.Vertices {
			x := core.VertexSample{
				ID: v.ID, Parallelism: v.Parallelism, RecordsIn: core.Read(w.in[i] * seconds), RecordsOut: core.Read(w.out[i] * seconds), InPerSecond: core.Read(w.in[i]),
				BusyMin: core.Read(w.permille[i]), BusyAvg: core.Read(w.permille[i]), BusyMax: core.Read(w.permille[i]),
				BusyTotal:    core.Read(w.permille[i] * float64(v.Parallelism) * seconds),
				BackPressure: core.Absent(core.NotApplicable), Lag: core.Absent(core.NotApplicable),
			}
			if v.IsSource() {
				x.BackPressure, x.Lag = core.Read(0), core.Read(w.lag[i])
			}
			s.Vertices = append(s.Vertices, x)
		}
		ctx.Window = append(ctx.Window, s)
	}
	return ctx
}
