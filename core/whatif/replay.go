package whatif

import (
	"slices"

	"flinkscaler/core"
	"flinkscaler/core/collect"
	"flinkscaler/core/policy"
	"flinkscaler/core/strategy"
)

// Replay is a job on its way from look to look.
type Replay struct {
	key    core.JobKey
	layers func(config map[string]string) []policy.Layer
	// Plugins are those that policies may name.
	Plugins strategy.Extensions

	job          core.JobRef
	topology     core.Topology
	digest       string
	config       map[string]string
	configDigest string
	window       []core.Sample
	memory       core.Memory
	cycle        int
}

// Step is one decision on the way, with the policy that it obeyed.
type Step struct {
	Decision core.Decision
	// Topology is the graph that the decision is about.
	Topology core.Topology
	Job      core.JobRef
	// Sample is the newest look.
	Sample  core.Sample
	Policy  policy.Policy
	Origins []policy.Origin
	// Problems are those of the policy, all of them.
	Problems []core.Problem
	// Config is the job's own configuration as known.
	Config map[string]string
}

// NewReplay begins with nothing seen. layers gives the policy's layers, highest
// first, for what is known of the job's own configuration. It has the plugins that
// are built in.
func NewReplay(key core.JobKey, layers func(config map[string]string) []policy.Layer) *Replay {
	return &Replay{key: key, layers: layers, Plugins: strategy.BuiltIn()}
}

// Look takes in one look and decides. Now is the time of the look on its own
// clock, so that a recording comes to the same decisions whenever it is read.
func (r *Replay) Look(o core.Observation) Step {
	r.see(o)
	r.cycle++
	p, origins, problems := policy.Resolve(r.layers(r.config))
	s := Step{Topology: r.topology, Job: r.job, Sample: o.Sample, Policy: p, Origins: origins, Problems: problems, Config: r.config}
	decision, memory, keepFrom := r.Plugins.Decide(r.context(o.Sample), p, problems)
	s.Decision, r.memory = decision, memory
	r.window = slices.DeleteFunc(r.window, func(x core.Sample) bool { return x.At.Before(keepFrom) })
	return s
}

// see carries over what a look says of the job; it leaves out what it takes for
// known.
func (r *Replay) see(o core.Observation) {
	if o.Job.ID != "" {
		r.job = o.Job
	}
	if o.Topology != nil {
		r.topology, r.digest = *o.Topology, o.Digest
	}
	if o.Config != nil || o.ConfigDigest != r.configDigest {
		r.config, r.configDigest = o.Config, o.ConfigDigest
	}
	r.window = collect.Append(r.window, o.Sample, collect.MaxBytes)
}

// context is what may be known: what was seen, and no order of anybody.
func (r *Replay) context(newest core.Sample) core.JobContext {
	return core.JobContext{
		Key: r.key, JobID: r.job.ID, FlinkVersion: r.job.FlinkVersion, Cycle: r.cycle, Now: newest.At,
		Topology: r.topology, Window: slices.Clone(r.window), Memory: r.memory, Config: r.config, Means: r.job.Means,
	}
}

// Known is what the next look need not tell again.
func (r *Replay) Known() (digest, configDigest string, last core.Sample) {
	if n := len(r.window); n > 0 {
		last = r.window[n-1]
	}
	return r.digest, r.configDigest, last
}

// Turn is true when a decision comes to something else than the one before.
func Turn(before, now core.Decision) bool {
	if before.Verdict != now.Verdict || before.Reason != now.Reason {
		return true
	}
	return now.Verdict == core.Change && !slices.Equal(before.Sizes(), now.Sizes())
}
