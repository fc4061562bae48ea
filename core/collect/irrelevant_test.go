package collect

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"flinkscaler/core"
)

// TestIrrelevantMetricsChangeNothing: whatever else Flink shows, a sample is
// the same and the same is asked for.
func TestIrrelevantMetricsChangeNothing(t *testing.T) {
	t.Parallel()
	others := []string{
		"numBytesIn", "numBytesOutPerSecond", "idleTimeMsPerSecond", "mailboxLatencyMs_p99", "softBackPressuredTimeMsPerSecond", "accumulateBusyTimeMs",
		"Source__gen.watermarkLag", "Source__gen.currentEmitEventTimeLag", "Source__gen.numBytesInPerSecond", "Sink__x.numRecordsSend", "0.map.numRecordsOutPerSecond",
		"Source__gen.KafkaSourceReader.commitsSucceeded", "checkpointStartDelayNanos", "buffers.inPoolUsage", "", "Source__", "pendingRecords",
	}
	rapid.Check(t, func(t *rapid.T) {
		m := healthy()
		want, topology := Sample(m, nil)
		for i := range m.Vertices {
			v := &m.Vertices[i]
			for _, name := range rapid.SliceOf(rapid.SampledFrom(others)).Draw(t, "names") {
				v.Names = append(v.Names, name)
				x := rapid.Float64().Draw(t, "value")
				v.Values = append(v.Values, core.Aggregate{ID: name, Min: x, Max: x, Avg: x, Sum: x})
			}
			v.Names = rapid.Permutation(v.Names).Draw(t, "order")
			v.Values = rapid.Permutation(v.Values).Draw(t, "order of values")
			if got, before := Wanted(topology.Vertices[i], v.Names), Wanted(topology.Vertices[i], healthy().Vertices[i].Names); !slices.Equal(got, before) {
				t.Fatalf("asks for %v; without the others for %v", got, before)
			}
		}
		m.TaskManagers = append(m.TaskManagers, core.Aggregate{ID: "Status.JVM.Threads.Count", Max: 1e9})
		got, gotTopology := Sample(m, nil)
		if diff := cmp.Diff(want, got) + cmp.Diff(topology, gotTopology); diff != "" {
			t.Fatalf("(-without +with others):\n%s", diff)
		}
	})
}
