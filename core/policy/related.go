package policy

import (
	"maps"
	"slices"
)

// Related are the keys that are not the autoscaler's, and that decisions need
// all the same: what a TaskManager has, and what bounds a parallelism. They are
// no part of a policy: Resolve does not take them.
func Related() []string {
	return []string{
		"jobmanager.scheduler",
		"kubernetes.taskmanager.cpu",
		"kubernetes.taskmanager.cpu.amount",
		"pipeline.jobvertex-parallelism-overrides",
		"pipeline.max-parallelism",
		"taskmanager.memory.flink.size",
		"taskmanager.memory.framework.heap.size",
		"taskmanager.memory.framework.off-heap.size",
		"taskmanager.memory.jvm-metaspace.size",
		"taskmanager.memory.jvm-overhead.fraction",
		"taskmanager.memory.jvm-overhead.max",
		"taskmanager.memory.jvm-overhead.min",
		"taskmanager.memory.managed.fraction",
		"taskmanager.memory.managed.size",
		"taskmanager.memory.network.fraction",
		"taskmanager.memory.network.max",
		"taskmanager.memory.network.min",
		"taskmanager.memory.process.size",
		"taskmanager.memory.segment-size",
		"taskmanager.memory.size",
		"taskmanager.memory.task.heap.size",
		"taskmanager.memory.task.off-heap.size",
		"taskmanager.network.memory.buffers-per-channel",
		"taskmanager.network.memory.floating-buffers-per-gate",
		"taskmanager.numberOfTaskSlots",
	}
}

// Own picks the keys of a configuration that are ours to judge: those under
// one of the two prefixes.
func Own(config map[string]string) map[string]string {
	return pick(config, hasPrefix)
}

// Relevant picks what decisions need of a configuration: Own, and the Related
// keys.
func Relevant(config map[string]string) map[string]string {
	related := Related()
	return pick(config, func(k string) bool { return hasPrefix(k) || slices.Contains(related, k) })
}

// pick walks the keys in order, although that does not matter here: workflow
// code is checked to never depend on the order of a map.
func pick(config map[string]string, wanted func(string) bool) map[string]string {
	out := map[string]string{}
	for _, k := range slices.Sorted(maps.Keys(config)) {
		if wanted(k) {
			out[k] = config[k]
		}
	}
	return out
}
