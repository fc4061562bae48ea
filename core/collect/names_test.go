package collect

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
)

func TestWanted(t *testing.T) {
	t.Parallel()
	source := core.Vertex{ID: "s"}
	middle := core.Vertex{ID: "m", Inputs: []core.Edge{{From: "s"}}}
	names := []string{
		"busyTimeMsPerSecond", "backPressuredTimeMsPerSecond", "idleTimeMsPerSecond", "numRecordsIn", "numRecordsInPerSecond", "numRecordsOut",
		"Source__gen.numRecordsIn", "Source__gen.numRecordsInPerSecond", "Source__gen.numRecordsOut", "Source__gen.numRecordsOutPerSecond",
		"Source__gen.pendingRecords", "Source__gen.KafkaSourceReader.pendingRecords", "Source__gen.extra.numRecordsIn",
		"Source__gen.split.s0.watermark.currentWatermark", "slow.numRecordsIn",
	}
	cases := map[string]struct {
		reason string
		vertex core.Vertex
		names  []string
		want   []string
	}{
		"source": {
			reason: "busy time, back pressure, its own counters and every backlog",
			vertex: source, names: names,
			want: []string{
				"Source__gen.KafkaSourceReader.pendingRecords", "Source__gen.numRecordsIn", "Source__gen.numRecordsInPerSecond", "Source__gen.numRecordsOut",
				"Source__gen.pendingRecords", "backPressuredTimeMsPerSecond", "busyTimeMsPerSecond",
			},
		},
		"other": {
			reason: "the task's own meter; a chained operator's is not it",
			vertex: middle, names: names,
			want: []string{"backPressuredTimeMsPerSecond", "busyTimeMsPerSecond", "numRecordsInPerSecond"},
		},
		"only what exists": {
			reason: "Flink answers a query for one unknown id with nothing",
			vertex: source, names: []string{"busyTimeMsPerSecond"},
			want: []string{"busyTimeMsPerSecond"},
		},
		"finished": {
			reason: "nothing is read of a vertex that is done",
			vertex: core.Vertex{ID: "s", Finished: true}, names: names,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, Wanted(c.vertex, c.names)); diff != "" {
				t.Errorf("because %s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestPartitions(t *testing.T) {
	t.Parallel()
	kafka := func(topic, n string) string {
		return "1.Source__Kafka_Source_(testTopic).KafkaSourceReader.topic." + topic + ".partition." + n + ".currentOffset"
	}
	dynamic := func(cluster, topic, n string) string {
		return "1.Source__Kafka_Source_(testTopic).kafkaCluster." + cluster + ".KafkaSourceReader.topic." + topic + ".partition." + n + ".currentOffset"
	}
	pulsar := func(topic, n, reader string) string {
		return "0.Source__pulsar_source[1].PulsarConsumer.persistent_//public/default/" + topic + "-partition-" + n + "." + reader + ".numMsgsReceived"
	}
	cases := map[string]struct {
		reason string
		names  []string
		want   int
	}{
		"none": {"a source that does not tell", []string{"numRecordsIn", "Source__x.pendingRecords"}, 0},
		"kafka": {"topic A one, topic B four; other metrics of a partition do not count", []string{
			kafka("topicA", "0"), kafka("topicB", "0"), kafka("topicB", "1"), kafka("topicB", "2"), kafka("topicB", "3"),
			"1.Source__K.KafkaSourceReader.topic.topicC.partition.0.anotherMetric",
		}, 5},
		"kafka, several clusters": {"the same topic on two clusters is two topics", []string{
			dynamic("c1", "a", "0"), dynamic("c1", "b", "0"), dynamic("c2", "a", "0"), dynamic("c2", "a", "1"), dynamic("c2", "a", "2"), dynamic("c2", "a", "3"),
		}, 6},
		"topic with dots and the word partition": {"the last partition in the name is the number", []string{
			kafka("a.partition.b", "0"), kafka("a.partition.b", "1"),
		}, 2},
		"pulsar": {"two readers of one partition are one partition", []string{
			pulsar("testTopic", "1", "x"), pulsar("testTopic", "1", "y"), pulsar("testTopic", "2", "z"), pulsar("testTopic", "3", "z"), pulsar("testTopic", "4", "z"), pulsar("otherTopic", "2", "z"),
		}, 5},
		"splits of Flink 2.3": {"seven ids for each split, counted once", []string{
			"Source__gen.split.s0.watermark.currentWatermark", "Source__gen.split.s0.watermark.idleTimeMsPerSecond",
			"Source__gen.split.s1.watermark.currentWatermark", "Source__gen.split.topic.with.dots-0.watermark.currentWatermark",
		}, 3},
		"kafka on Flink 2.3": {"the partitions are told twice and count once", []string{
			kafka("t", "0"), kafka("t", "1"), "Source__K.split.t-0.watermark.currentWatermark", "Source__K.split.t-1.watermark.currentWatermark",
		}, 2},
		"nonsense": {"names that only look like it", []string{
			"x.KafkaSourceReader.topic.t.partition.a.currentOffset", "x.KafkaSourceReader.topic..partition.1.currentOffset", ".split.", "a.split..watermark.x", "x.PulsarConsumer.t-partition-.n.numMsgsReceived", "x.PulsarConsumer.t.numMsgsReceived",
		}, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Partitions(c.names); got != c.want {
				t.Errorf("Partitions = %d; want %d: %s", got, c.want, c.reason)
			}
		})
	}
}

// TestActiveSplitsComeFirst: of three partitions whose metrics have a name only
// two are still read.
func TestActiveSplitsComeFirst(t *testing.T) {
	t.Parallel()
	names := []string{
		"Source__k.kafkaCluster.a.KafkaSourceReader.topic.t.partition.0.currentOffset",
		"Source__k.kafkaCluster.a.KafkaSourceReader.topic.t.partition.1.currentOffset",
		"Source__k.kafkaCluster.gone.KafkaSourceReader.topic.t.partition.0.currentOffset",
	}
	count := func(sum float64) core.VertexMetrics {
		return core.VertexMetrics{Names: names, Values: []core.Aggregate{{ID: "Source__k.DynamicKafkaSource.activeSplitCount", Sum: sum}}}
	}
	for name, c := range map[string]struct {
		reason string
		vm     core.VertexMetrics
		want   int
	}{
		"counted":     {"the source says how many it reads", count(2), 2},
		"none yet":    {"nothing is assigned yet: that is no limit", count(0), 3},
		"no number":   {"it could not be read", count(math.NaN()), 3},
		"too many":    {"no source has so many", count(1e30), 3},
		"not counted": {"an older connector", core.VertexMetrics{Names: names}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := splitsOf(c.vm); got != c.want {
				t.Errorf("%d; want %d: %s", got, c.want, c.reason)
			}
		})
	}
	if got := Wanted(core.Vertex{ID: "s"}, []string{"Source__k.DynamicKafkaSource.activeSplitCount"}); len(got) != 1 {
		t.Errorf("asks for %v; want the count of splits", got)
	}
}
