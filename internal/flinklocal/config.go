package flinklocal

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"flinkscaler/internal/toolcache"
)

// loopback is the only address anything here listens on.
const loopback = "127.0.0.1"

// legacyConfigName is what the configuration file was called before 1.19. Its values are not YAML: quotes would be
// part of them.
const legacyConfigName = "flink-conf.yaml"

// layout is where one cluster keeps its files, and its ports.
type layout struct {
	dir           string
	rest          []int // one per JobManager
	rpc           int   // without HA; with HA Flink picks
	zookeeper     int   // client port; 0 without HA
	zookeeperPeer [2]int
}

func (l layout) path(name string) string { return filepath.Join(l.dir, name) }

func (l layout) logDir() string { return l.path(logName) }

// logName is the folder for logs.
const logName = "log"

// confDir is a folder for each configuration: JobManagers differ in their port, and Flink 2.3 ignores a rest.port that is
// given as an argument, in every form.
func (l layout) confDir(of string) string { return filepath.Join(l.dir, "conf", of) }

func (l layout) fileURL(name string) string {
	return "file://" + filepath.ToSlash(l.path(name))
}

// flinkConfig is the whole configuration of a cluster as flat keys. What the options give comes last.
func flinkConfig(o Options, l layout) (map[string]string, error) {
	version, err := toolcache.ParseVersion(o.Version)
	if err != nil {
		return nil, err
	}
	config := map[string]string{}
	maps.Copy(config, addressConfig(l))
	maps.Copy(config, timingConfig(o))
	maps.Copy(config, MemoryConfig(o.Slots))
	maps.Copy(config, storageConfig(version, l))
	maps.Copy(config, schedulerConfig(version))
	if o.HA {
		maps.Copy(config, haConfig(l))
	}
	maps.Copy(config, o.Config)
	return config, nil
}

func addressConfig(l layout) map[string]string {
	return map[string]string{
		"jobmanager.rpc.address": loopback,
		"jobmanager.bind-host":   loopback,
		"jobmanager.rpc.port":    strconv.Itoa(l.rpc),
		"taskmanager.host":       loopback,
		"taskmanager.bind-host":  loopback,
		"rest.address":           loopback,
		"rest.bind-address":      loopback,
		"io.tmp.dirs":            l.path("tmp"),
		"web.upload.dir":         l.path("upload"),
		"parallelism.default":    "1",
	}
}

// timingConfig makes losses seen within seconds. Numbers without a unit are milliseconds in every version.
func timingConfig(o Options) map[string]string {
	return map[string]string{
		"heartbeat.interval":                    "1000",
		"heartbeat.timeout":                     "6000",
		"slot.idle.timeout":                     "5000",
		"slot.request.timeout":                  "10000",
		"web.refresh-interval":                  "1000",
		"cluster.registration.error-delay":      "1000", // a TaskManager that starts before its JobManager asks again
		"web.timeout":                           millis(o.WebTimeout),
		"metrics.fetcher.update-interval":       millis(o.FetchInterval),
		"restart-strategy.type":                 "fixed-delay",
		"restart-strategy.fixed-delay.attempts": "1000000",
		"restart-strategy.fixed-delay.delay":    "500 ms",
		"execution.checkpointing.interval":      "5 s",
	}
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// MemoryConfig is the configuration of a TaskManager's slots and memory. It must name every part: Flink's scripts compute
// what is left out, and they are not used here. It goes with the JVM options that Distribution.Command gives.
func MemoryConfig(slots int) map[string]string {
	return map[string]string{
		"taskmanager.numberOfTaskSlots": strconv.Itoa(slots),
		"taskmanager.cpu.cores":         strconv.Itoa(slots) + ".0",
		// The test job's records are a few bytes. Buffers of the default 32 KB would hold seconds of them between source
		// and map, hide that much of a backlog, and make every checkpoint wait for it.
		"taskmanager.memory.segment-size":            "4kb",
		"taskmanager.memory.task.heap.size":          "160m",
		"taskmanager.memory.task.off-heap.size":      "0",
		"taskmanager.memory.managed.size":            "32m",
		"taskmanager.memory.network.min":             "32m",
		"taskmanager.memory.network.max":             "32m",
		"taskmanager.memory.framework.heap.size":     "96m",
		"taskmanager.memory.framework.off-heap.size": "64m",
		"taskmanager.memory.jvm-metaspace.size":      "128m",
		"taskmanager.memory.jvm-overhead.min":        "64m",
		"taskmanager.memory.jvm-overhead.max":        "64m",
	}
}

func storageConfig(version toolcache.Version, l layout) map[string]string {
	checkpoints := "execution.checkpointing.dir"
	if !version.AtLeast(toolcache.Version{Major: 1, Minor: 20}) {
		checkpoints = "state.checkpoints.dir"
	}
	return map[string]string{
		"state.backend.type": "hashmap",
		checkpoints:          l.fileURL("checkpoints"),
	}
}

// schedulerConfig makes the adaptive scheduler act within seconds, but wait as long as Flink does by itself for a job's
// first slots: one that gets none in that time has failed for good, and on a busy machine TaskManagers are slow to come
// back. Flink 2 renamed its waiting times.
func schedulerConfig(version toolcache.Version) map[string]string {
	const prefix = "jobmanager.adaptive-scheduler."
	config := map[string]string{"jobmanager.scheduler": "adaptive"}
	if !version.AtLeast(toolcache.Version{Major: 2}) {
		config[prefix+"resource-stabilization-timeout"] = "1 s"
		config[prefix+"scaling-interval.min"] = "1 s"
		config[prefix+"scaling-interval.max"] = "2 s"
		config[prefix+"min-parallelism-increase"] = "1"
		return config
	}
	config[prefix+"submission.resource-stabilization-timeout"] = "1 s"
	config[prefix+"executing.cooldown-after-rescaling"] = "1 s"
	config[prefix+"executing.resource-stabilization-timeout"] = "2 s"
	config[prefix+"rescale-trigger.max-delay"] = "3 s"
	config["web.adaptive-scheduler.rescale-history.size"] = "20" // unknown before 2.3, and ignored there
	return config
}

// haConfig lets a lost leader be noticed in 10 s. Flink's default is 60 s; much less and a busy machine loses leaders
// by itself.
func haConfig(l layout) map[string]string {
	return map[string]string{
		"high-availability.type":                                "zookeeper",
		"high-availability.storageDir":                          l.fileURL("ha"),
		"high-availability.cluster-id":                          "/flinklocal",
		"high-availability.zookeeper.quorum":                    loopback + ":" + strconv.Itoa(l.zookeeper),
		"high-availability.zookeeper.client.session-timeout":    "10000",
		"high-availability.zookeeper.client.connection-timeout": "5000",
	}
}

// renderConfig writes the configuration in the form that the version reads, sorted, and says how the file is called.
// Flat keys are valid in both forms and cannot collide, unlike nested ones ("state.backend" beside "state.backend.type").
func renderConfig(version toolcache.Version, config map[string]string) (name, content string) {
	name, value := "config.yaml", strconv.Quote
	if !version.AtLeast(toolcache.Version{Major: 1, Minor: 19}) {
		name, value = legacyConfigName, func(text string) string { return text }
	}
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(config)) {
		fmt.Fprintf(&text, "%s: %s\n", key, value(config[key]))
	}
	return name, text.String()
}

// renderZooKeeper is the configuration of a ZooKeeper alone. Flink's ZooKeeper wants a server line even so.
func renderZooKeeper(l layout) string {
	return fmt.Sprintf(`tickTime=1000
initLimit=10
syncLimit=5
dataDir=%s
clientPort=%d
clientPortAddress=%s
admin.enableServer=false
server.1=%s:%d:%d
`, filepath.ToSlash(l.path("zookeeper")), l.zookeeper, loopback, loopback, l.zookeeperPeer[0], l.zookeeperPeer[1])
}
