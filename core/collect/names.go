package collect

import (
	"math"
	"slices"
	"strings"

	"flinkscaler/core"
)

// The metric ids of a vertex that are read. A source's own ones carry its
// operator's name in front.
const (
	busyTime       = "busyTimeMsPerSecond"
	backPressure   = "backPressuredTimeMsPerSecond"
	inPerSecond    = "numRecordsInPerSecond"
	sourcePrefix   = "Source__"
	sourceInRate   = "." + inPerSecond
	sourceIn       = ".numRecordsIn"
	sourceOut      = ".numRecordsOut"
	pendingRecords = ".pendingRecords"
	// activeSplits is a gauge of Kafka's dynamic source: how many splits each
	// reader has now, without those of clusters and topics that are gone.
	activeSplits = ".DynamicKafkaSource.activeSplitCount"
)

// Wanted is the core.Picker of the autoscaler. It asks only for ids that
// exist: Flink answers a query for one unknown id with nothing at all.
func Wanted(v core.Vertex, names []string) []string {
	if v.Finished {
		return nil
	}
	var out []string
	for _, n := range names {
		if n == busyTime || n == backPressure || (!v.IsSource() && n == inPerSecond) || (v.IsSource() && (strings.HasSuffix(n, pendingRecords) || strings.HasSuffix(n, activeSplits))) {
			out = append(out, n)
		}
	}
	if v.IsSource() {
		for _, suffix := range []string{sourceInRate, sourceIn, sourceOut} {
			if n := sourceMetric(names, suffix); n != "" {
				out = append(out, n)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sourceMetric finds the source operator's own metric: of several that fit,
// the shortest name, which is the one without a group in between.
func sourceMetric(names []string, suffix string) string {
	best := ""
	for _, n := range names {
		if !strings.HasPrefix(n, sourcePrefix) || !strings.HasSuffix(n, suffix) {
			continue
		}
		if best == "" || len(n) < len(best) || (len(n) == len(best) && n < best) {
			best = n
		}
	}
	return best
}

// Partitions counts the distinct partitions or splits that the metric ids of a
// source name, 0 when they name none. Connectors that name partitions (Kafka,
// Pulsar) are believed first; else the split ids of Flink's own per-split
// metrics count.
func Partitions(names []string) int {
	partitions, splits := map[[3]string]bool{}, map[string]bool{}
	for _, n := range names {
		if k, ok := kafkaPartition(n); ok {
			partitions[k] = true
		} else if k, ok := pulsarPartition(n); ok {
			partitions[k] = true
		} else if k, ok := split(n); ok {
			splits[k] = true
		}
	}
	if len(partitions) > 0 {
		return len(partitions)
	}
	return len(splits)
}

// splitsOf is how many partitions or splits a source reads, 0 when it does not
// tell. The names of metrics stay after their partition is gone, so a source
// that counts its active splits itself is believed first.
func splitsOf(vm core.VertexMetrics) int {
	sum := 0.0
	for _, a := range vm.Values {
		if strings.HasSuffix(a.ID, activeSplits) && a.Sum > 0 && a.Sum < math.MaxInt32 {
			sum += a.Sum
		}
	}
	if n := int(sum); n > 0 {
		return n
	}
	return Partitions(vm.Names)
}

// kafkaPartition reads
// ...[.kafkaCluster.<c>].KafkaSourceReader.topic.<t>.partition.<n>.currentOffset.
func kafkaPartition(name string) ([3]string, bool) {
	rest, ok := strings.CutSuffix(name, ".currentOffset")
	if !ok {
		return [3]string{}, false
	}
	before, rest, ok := strings.Cut(rest, ".KafkaSourceReader.topic.")
	if !ok {
		return [3]string{}, false
	}
	at := strings.LastIndex(rest, ".partition.")
	if at < 1 || !digits(rest[at+len(".partition."):]) {
		return [3]string{}, false
	}
	_, cluster, _ := strings.Cut(before, ".kafkaCluster.")
	return [3]string{cluster, rest[:at], rest[at+len(".partition."):]}, true
}

// pulsarPartition reads ....PulsarConsumer.<t>-partition-<n>.<x>.numMsgsReceived.
func pulsarPartition(name string) ([3]string, bool) {
	rest, ok := strings.CutSuffix(name, ".numMsgsReceived")
	if !ok {
		return [3]string{}, false
	}
	_, rest, ok = strings.Cut(rest, ".PulsarConsumer.")
	if !ok {
		return [3]string{}, false
	}
	at := strings.LastIndex(rest, "-partition-")
	if at < 1 {
		return [3]string{}, false
	}
	n, _, ok := strings.Cut(rest[at+len("-partition-"):], ".")
	if !ok || !digits(n) {
		return [3]string{}, false
	}
	return [3]string{"", rest[:at], n}, true
}

// split reads ....split.<id>.watermark.<metric>, as Flink 2.1 and later have
// them for every source. The id may itself have dots.
func split(name string) (string, bool) {
	_, rest, ok := strings.Cut(name, ".split.")
	if !ok {
		return "", false
	}
	at := strings.LastIndex(rest, ".watermark.")
	if at < 1 {
		return "", false
	}
	return rest[:at], true
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
