package activities

import (
	"context"
	"reflect"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// Decide judges what was seen: evaluate, stabilize, scale. It is pure but for
// the clock in its input, runs as a local activity, and its result is in
// history: a later formula cannot break the replay of a running job.
func (a *Activities) Decide(_ context.Context, in DecideInput) (Decided, error) {
	cluster := a.s.Clusters[in.Context.Key.Cluster].Policy
	p, _, problems := policy.Resolve(Layers(in.Set, in.Input, in.Config, cluster))
	out := Decided{
		Interval: p.Interval, VerifyTimeout: p.VerifyTimeout, Backoff: p.Backoff,
		NoCheckpoints: p.WithoutCheckpoints, NoSlots: p.WithoutFreeSlots, NoUndo: !p.Undo, StateSize: p.AsksStateSize(), Redeploy: p.Redeploy, ClusterDigest: digestMap(cluster),
	}
	if out.ClusterDigest != in.ClusterDigest {
		out.ClusterChanged, out.ClusterPolicy = true, cluster
	}
	in.Context.Config = in.Config
	in.Context.Turn = a.turn(in.Context)
	decision, memory, keepFrom := a.s.Plugins.Decide(in.Context, p, problems)
	out.Decision, out.KeepFrom, out.Health = decision, keepFrom, core.HealthOf(in.Context, decision)
	out.Slots = wish(in.Context, decision, p.SharePriority)
	if next, said := in.Context.Consent.After(decision); !reflect.DeepEqual(next, in.Context.Consent) {
		out.Consent, out.ConsentNote = &next, said
	}
	out.Events, memory.Told = a.due(decision, out.Health, in.Context, p)
	if !reflect.DeepEqual(memory, in.Context.Memory) {
		out.Memory = &memory
	}
	if a.s.Recorder != nil {
		a.s.Recorder.Decided(in.Context.Key, decision, a.s.Now())
	}
	return out, nil
}

// turn is the job's part in what the jobs of its cluster share, nil where the
// worker's configuration shares nothing.
func (a *Activities) turn(c core.JobContext) *core.Turn {
	if !a.s.Clusters[c.Key.Cluster].Share.On() {
		return nil
	}
	if c.Turn != nil {
		return c.Turn
	}
	return &core.Turn{}
}

// LayerSet is the name of the layer that the message set-policy makes.
const LayerSet = "set-policy"

// Layers names the policy's layers, highest first. Of the job's configuration
// only what is ours to judge belongs to it.
func Layers(set, input, config, cluster map[string]string) []policy.Layer {
	return []policy.Layer{
		{Name: LayerSet, Values: set},
		{Name: "input", Values: input},
		{Name: "job configuration", Values: policy.Own(config)},
		{Name: "cluster default", Values: cluster},
	}
}
