package hadoop

import (
	"maps"
	"strings"

	"flinkscaler/internal/toolcache"
)

// config is Flink's whole configuration as flat keys. What the options give comes last.
func (f *Flink) config(o FlinkOptions, opens []string) map[string]string {
	config := with(memoryConfig(), timingConfig(), f.placesConfig(), schedulerConfig(f.version, o.DefaultScheduler))
	// Temporary files stay in the cluster's folder: JobManagers that are killed leave theirs behind.
	tmp := "-Djava.io.tmpdir=" + f.cluster.layout.path(tmpName)
	config["env.java.opts.all"] = strings.Join(append(opens, tmp, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData"), " ")
	if o.HA {
		maps.Copy(config, f.haConfig())
	}
	maps.Copy(config, o.Options)
	return config
}

// memoryConfig makes a JobManager a container of 1024 MB and a TaskManager one of 768 MB with one slot.
func memoryConfig() map[string]string {
	return map[string]string{
		"jobmanager.memory.process.size":             "900m",
		"jobmanager.memory.jvm-metaspace.size":       "192m",
		"jobmanager.memory.off-heap.size":            "64m",
		"taskmanager.memory.process.size":            "768m",
		"taskmanager.memory.managed.size":            "32m",
		"taskmanager.memory.jvm-metaspace.size":      "128m",
		"taskmanager.memory.jvm-overhead.min":        "64m",
		"taskmanager.memory.jvm-overhead.max":        "128m",
		"taskmanager.memory.network.min":             "32m",
		"taskmanager.memory.network.max":             "64m",
		"taskmanager.memory.framework.off-heap.size": "64m",
		"taskmanager.memory.segment-size":            "4kb", // larger ones would hold seconds of the test job's small records
		"taskmanager.numberOfTaskSlots":              "1",
	}
}

// timingConfig lets losses be seen, and containers be given back, within seconds. Numbers are milliseconds.
func timingConfig() map[string]string {
	return map[string]string{
		"heartbeat.interval":                                        "2000",
		"heartbeat.timeout":                                         "10000",
		"slot.idle.timeout":                                         "3000",
		"resourcemanager.taskmanager-timeout":                       "5000",
		"web.refresh-interval":                                      "1000",
		"web.timeout":                                               "10000",
		"metrics.fetcher.update-interval":                           "1000",
		"restart-strategy.type":                                     "fixed-delay",
		"restart-strategy.fixed-delay.attempts":                     "1000000",
		"restart-strategy.fixed-delay.delay":                        "500 ms",
		"execution.checkpointing.interval":                          "2 s",
		"execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
		"parallelism.default":                                       "1",
	}
}

// placesConfig names folders in HDFS. The file that a session leaves for later commands stays among our own.
func (f *Flink) placesConfig() map[string]string {
	return map[string]string{
		"yarn.provided.lib.dirs":                f.Libs(),
		"yarn.properties-file.location":         f.cluster.layout.path(tmpName),
		"state.backend.type":                    "hashmap",
		"state.checkpoints.dir":                 f.Checkpoints(),
		"state.savepoints.dir":                  f.Savepoints(),
		"execution.checkpointing.dir":           f.Checkpoints(),
		"execution.checkpointing.savepoint-dir": f.Savepoints(),
	}
}

// schedulerConfig makes the adaptive scheduler act within seconds. Flink 2 renamed its waiting times.
func schedulerConfig(version toolcache.Version, byDefault bool) map[string]string {
	const prefix = "jobmanager.adaptive-scheduler."
	switch {
	case byDefault:
		return map[string]string{"jobmanager.scheduler": "default"}
	case !version.AtLeast(toolcache.Version{Major: 2}):
		return map[string]string{
			"jobmanager.scheduler":                    "adaptive",
			prefix + "resource-stabilization-timeout": "1 s",
			prefix + "scaling-interval.min":           "1 s",
			prefix + "scaling-interval.max":           "3 s",
			prefix + "min-parallelism-increase":       "1",
		}
	default:
		return map[string]string{
			"jobmanager.scheduler":                               "adaptive",
			prefix + "submission.resource-stabilization-timeout": "1 s",
			prefix + "executing.cooldown-after-rescaling":        "1 s",
			prefix + "executing.resource-stabilization-timeout":  "2 s",
			prefix + "rescale-trigger.max-delay":                 "3 s",
			"web.adaptive-scheduler.rescale-history.size":        "20", // unknown before 2.3, and ignored there
		}
	}
}

// haConfig lets a lost JobManager be noticed in 4 s. With Flink's 60 s the next one would wait for so long before it tells
// YARN of itself that YARN kills it.
func (f *Flink) haConfig() map[string]string {
	return map[string]string{
		"high-availability.type":                             "zookeeper",
		"high-availability.storageDir":                       f.cluster.DefaultFS() + "/ha",
		"high-availability.zookeeper.quorum":                 f.cluster.ZooKeeperAddress(),
		"high-availability.zookeeper.client.session-timeout": "4000",
		"yarn.application-attempts":                          "4",
	}
}
