package strategy

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"flinkscaler/core"
)

// actor is a vertex with what it does now.
type actor struct {
	core.Vertex
	// in and out are records per second: of a source with a cap, in is what
	// arrives for it.
	in, out float64
	// busy is min, mean and max over the subtasks, back the mean, in ms per
	// second.
	busy busyTime
	back float64
	// meter is Flink's own rate of records in, NaN when it is as in.
	meter float64
	// lag goes to lagTo in the course of a line, and grows by lagPer per second.
	lag, lagTo, lagPer float64
	// lagMax is the most in front of one subtask, NaN when all have the same.
	lagMax float64
	// capacity is what one subtask can do, in records per second, 0 when the
	// case gives rates and busy time itself; most is what all can do together
	// whatever their number, 0 when that has no bound; each record makes ratio
	// records.
	capacity, most, ratio float64
	rate                  float64

	inTotal, outTotal, busyTotal float64
	words                        map[string]string // readings that are not numbers
	names                        []string          // metrics that name partitions
	running                      int
	finished                     bool
}

type busyTime struct{ least, mean, most float64 }

func (s *scene) addVertex(w []string) {
	a := &actor{
		Vertex: core.Vertex{ID: w[0], Name: w[0], MaxParallelism: 128}, words: map[string]string{},
		meter: math.NaN(), lagMax: math.NaN(), ratio: 1,
	}
	for _, pair := range w[1:] {
		k, v, _ := strings.Cut(pair, "=")
		switch k {
		case "p":
			a.Parallelism = int(s.number(v))
		case "max":
			a.MaxParallelism = int(s.number(v))
		case "partitions":
			a.Partitions = int(s.number(v))
		case "topics":
			a.names = s.topics(v)
		case "name":
			a.Name = v
		case "group":
			a.SlotGroup = v
		case "from":
			for _, edge := range strings.Split(v, ",") {
				from, ship, ok := strings.Cut(edge, ":")
				if !ok {
					ship = "REBALANCE"
				}
				a.Inputs = append(a.Inputs, core.Edge{From: from, Ship: core.ShipStrategy(ship)})
			}
		case "cap":
			a.capacity = s.number(v)
		case "ratio":
			a.ratio = s.number(v)
		default:
			s.t.Fatalf("vertex %s: unknown word %q", w[0], pair)
		}
	}
	a.running = a.Parallelism
	s.vertices = append(s.vertices, a)
	s.sort()
}

// topics names the partitions of Kafka topics as their metrics do, from
// "orders:3,eu/orders:2": topic, or cluster and topic, and partitions.
func (s *scene) topics(text string) []string {
	var out []string
	for _, t := range strings.Split(text, ",") {
		topic, n, _ := strings.Cut(t, ":")
		prefix := "Source__x"
		if cluster, rest, ok := strings.Cut(topic, "/"); ok {
			prefix, topic = prefix+".kafkaCluster."+cluster, rest
		}
		for i := range int(s.number(n)) {
			out = append(out, fmt.Sprintf("%s.KafkaSourceReader.topic.%s.partition.%d.currentOffset", prefix, topic, i))
		}
	}
	return out
}

// set takes in what a vertex does from now on.
func (s *scene) set(a *actor, pairs []string) {
	for _, pair := range pairs {
		k, v, _ := strings.Cut(pair, "=")
		switch {
		case k == "finished":
			a.finished = true
		case k == "topics":
			a.names = s.topics(v)
		case k == "lag" && strings.ContainsAny(v, ".+"):
			delete(a.words, k)
			s.setLag(a, v)
		case k == "busy" && strings.Contains(v, "/"):
			part := strings.Split(v, "/")
			a.busy = busyTime{s.number(part[0]), s.number(part[1]), s.number(part[2])}
			delete(a.words, k)
		default:
			s.setNumber(a, k, v)
		}
	}
}

// setLag reads "0..6000", from one number to another within the line, and
// "+50/s" or "100+50/s", growing on and on.
func (s *scene) setLag(a *actor, v string) {
	if from, to, ok := strings.Cut(v, ".."); ok {
		a.lag, a.lagTo, a.lagPer = s.number(from), s.number(to), 0
		return
	}
	from, per, ok := strings.Cut(v, "+")
	if !ok {
		a.lag, a.lagPer = s.number(v), 0
		a.lagTo = a.lag
		return
	}
	if from != "" {
		a.lag = s.number(from)
	}
	a.lagTo, a.lagPer = a.lag, s.number(strings.TrimSuffix(per, "/s"))
}

func (s *scene) setNumber(a *actor, k, v string) {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || math.IsNaN(f) {
		if !slices.Contains([]string{"missing", "incomplete", "NaN", "all"}, v) {
			s.t.Fatalf("vertex %s: %s=%q is neither a number nor a word for its absence", a.ID, k, v)
		}
		a.words[k] = v
		return
	}
	delete(a.words, k)
	switch k {
	case "in":
		a.in = f
	case "out":
		a.out = f
	case "busy":
		a.busy = busyTime{f, f, f}
	case "back":
		a.back = f
	case "meter":
		a.meter = f
	case "lag":
		a.lag, a.lagTo, a.lagPer = f, f, 0
	case "lagmax":
		a.lagMax = f
	case "cap":
		a.capacity = f
	case "most":
		a.most = f
	case "ratio":
		a.ratio = f
	case "running":
		a.running = int(f)
	default:
		s.t.Fatalf("vertex %s: unknown word %q", a.ID, k)
	}
}

// advance moves the counters on by one cycle.
func (a *actor) advance(cycle time.Duration, frozen bool) {
	if a.capacity == 0 {
		a.lag += a.lagPer * cycle.Seconds()
		if a.lagPer != 0 {
			a.lagTo = a.lag
		}
		a.rate = a.in
	}
	if frozen {
		return
	}
	a.inTotal += a.rate * cycle.Seconds()
	a.outTotal += a.out * cycle.Seconds()
	a.busyTotal += a.busy.mean * float64(a.Parallelism) * cycle.Seconds()
}

func (a *actor) status() core.VertexStatus {
	tasks := core.TaskCounts{Running: a.running, Total: a.Parallelism}
	if a.finished {
		tasks = core.TaskCounts{Finished: a.Parallelism, Total: a.Parallelism}
	}
	return core.VertexStatus{
		ID: a.ID, Tasks: tasks, RecordsRead: a.reading("in", a.inTotal), RecordsWritten: a.reading("out", a.outTotal), BusyMs: core.Read(a.busyTotal),
	}
}

func (a *actor) reading(word string, value float64) core.Reading {
	switch a.words[word] {
	case "":
		return core.Read(value)
	case "incomplete":
		return core.Absent(core.Incomplete)
	}
	return core.Reading{}
}

// metrics are the vertex' metrics, part of the line being over.
func (a *actor) metrics(part float64) core.VertexMetrics {
	vm := core.VertexMetrics{ID: a.ID, Names: a.names}
	add := func(word, id string, x core.Aggregate) {
		switch a.words[word] {
		case "missing":
			return
		case "NaN":
			x = core.Aggregate{Min: math.NaN(), Max: math.NaN(), Avg: math.NaN(), Sum: math.NaN()}
		}
		x.ID = id
		vm.Names = append(vm.Names, id)
		vm.Values = append(vm.Values, x)
	}
	if a.finished {
		return vm
	}
	n := float64(a.Parallelism)
	even := func(each float64) core.Aggregate {
		return core.Aggregate{Min: each, Max: each, Avg: each, Sum: each * n}
	}
	meter := a.meter
	if math.IsNaN(meter) {
		meter = a.rate
	}
	add("busy", "busyTimeMsPerSecond", core.Aggregate{Min: a.busy.least, Max: a.busy.most, Avg: a.busy.mean, Sum: a.busy.mean * n})
	add("back", "backPressuredTimeMsPerSecond", even(a.back))
	if !a.IsSource() {
		add("meter", "numRecordsInPerSecond", core.Aggregate{Min: meter / n, Max: meter / n, Avg: meter / n, Sum: meter})
		return vm
	}
	add("meter", "Source__x.numRecordsInPerSecond", core.Aggregate{Min: meter / n, Max: meter / n, Avg: meter / n, Sum: meter})
	waiting := a.lag + (a.lagTo-a.lag)*part
	lag := core.Aggregate{Min: waiting / n, Max: waiting / n, Avg: waiting / n, Sum: waiting}
	switch {
	case a.words["lagmax"] == "all":
		lag.Max = waiting
	case !math.IsNaN(a.lagMax):
		lag.Max = a.lagMax
	}
	add("lag", "Source__x.pendingRecords", lag)
	return vm
}
