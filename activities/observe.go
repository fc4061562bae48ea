package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"flinkscaler/core"
	"flinkscaler/core/collect"
	"flinkscaler/core/policy"
	"flinkscaler/core/spec"
)

// Observe looks at a job once, and says meanwhile that it is alive. Only a bug
// makes an error.
func (a *Activities) Observe(ctx context.Context, in ObserveInput) (core.Observation, error) {
	ctx, b := startBeat(ctx, nil)
	defer b.stop()
	return a.Look(ctx, in), nil
}

// Look is Observe without Temporal, for a person who asks by hand: locate the
// job, read it, make a sample. What cannot be read makes a sample that says so.
func (a *Activities) Look(ctx context.Context, in ObserveInput) core.Observation {
	platform, err := a.platform(in.Key.Cluster)
	if err != nil {
		return a.unreadable(in, core.JobRef{Key: in.Key}, err)
	}
	job, err := platform.Locate(ctx, in.Target)
	job.Key = in.Key
	if err != nil {
		return a.unreadable(in, core.JobRef{Key: in.Key}, err)
	}
	m, err := platform.Measure(ctx, job, collect.Wanted)
	if err != nil {
		return a.unreadable(in, job, err)
	}
	previous := core.Sample{Clock: in.Clock, RunningSince: in.RunningSince}
	sample, topology := collect.Sample(m, &previous)
	for i := range topology.Vertices {
		v := &topology.Vertices[i]
		v.Name = spec.Cut(v.Name, maxName)
	}
	job.State = m.Status.State
	if m.Status.AllTasksRunning() {
		// What is wanted of Flink is read last: a rescale in between is seen by
		// others. Where it cannot be read, it is not known.
		if held, err := platform.Wanted(ctx, job); err == nil {
			sample.Asked, sample.Wanted = true, held.Against(m.Status.Topology.Sizes())
		}
	}
	sample.Mark = job.Mark
	sample.Rival, sample.Beware = a.s.Clusters[in.Key.Cluster].rivals(ctx, job)
	if in.StateSize {
		if health, err := platform.Inspect(ctx, job); err == nil {
			sample.Global.StateSize = health.StateSize
		}
	}
	out := core.Observation{Sample: sample, Job: job, Digest: in.Digest, ConfigDigest: in.ConfigDigest}
	if len(topology.Vertices) > 0 {
		if d := topology.Digest(); d != in.Digest {
			out.Digest, out.Topology = d, &topology
		}
	}
	switch config := policy.Relevant(m.Config); {
	case size(config) > maxConfig:
		out.Sample = collect.Faulty(sample.At, core.ReasonPolicyInvalid, fmt.Sprintf("the job's own configuration has %d KiB of keys that decisions depend on, at most %d are read", size(config)>>10, maxConfig>>10))
	case m.Config != nil:
		if d := configDigest(config); d != in.ConfigDigest {
			out.ConfigDigest, out.Config = d, config
		}
	case in.ConfigDigest == "" && sample.Fault == "":
		// It may say that the job is not to be changed.
		out.Sample = collect.Faulty(sample.At, core.ReasonUnreachable, "the job's configuration could not be read yet, and with it its policy")
	}
	return out
}

// maxConfig bounds what a job's own configuration may bring into every decision
// and into history; no person writes so much.
const maxConfig = 128 << 10

func size(config map[string]string) int {
	n := 0
	for k, v := range config {
		n += len(k) + len(v)
	}
	return n
}

// unreadable keeps the digests: what is known of the job stays known, its
// policy above all, until something else is read.
func (a *Activities) unreadable(in ObserveInput, job core.JobRef, err error) core.Observation {
	return core.Observation{
		Job: job, Digest: in.Digest, ConfigDigest: in.ConfigDigest,
		Sample: collect.Faulty(a.s.Now().UTC(), core.ReasonFor(err), spec.Cut(err.Error(), maxNote)),
	}
}

// maxNote bounds a sentence that goes into history, maxName the name of a
// vertex: Flink chains the names of all its operators.
const (
	maxNote = 300
	maxName = 500
)

// configDigest tells a configuration without keys of ours from one that was
// never read.
func configDigest(config map[string]string) string {
	if len(config) == 0 {
		return "none"
	}
	return digestMap(config)
}

// digestMap is a short stable fingerprint of a map.
func digestMap(m map[string]string) string {
	if len(m) == 0 {
		return ""
	}
	h := fnv.New64a()
	for _, k := range slices.Sorted(maps.Keys(m)) {
		b, _ := json.Marshal([2]string{k, m[k]})
		_, _ = h.Write(b)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
