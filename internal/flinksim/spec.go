package flinksim

import (
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"time"
)

// Input is an edge into a vertex.
type Input struct {
	// From is the name of the vertex before.
	From string `json:"from"`
	// Ship is HASH (the default), FORWARD, REBALANCE, ...
	Ship string `json:"ship,omitempty"`
	// Selectivity is how many records go along the edge for each record that
	// the vertex before takes in: 0 means 1, negative means none.
	Selectivity float64 `json:"selectivity,omitempty"`
}

// VertexSpec describes a vertex. One without inputs is a source.
type VertexSpec struct {
	Name string `json:"name"`
	// ID is 32 hex digits; made from the name when empty, so it is the same
	// after every submission.
	ID string `json:"id,omitempty"`
	// Parallelism to begin with, 1 when 0.
	Parallelism int `json:"parallelism,omitempty"`
	// MaxParallelism is the number of key groups, 128 when 0.
	MaxParallelism int `json:"maxParallelism,omitempty"`
	// Capacity is what one subtask can do, in records taken in per second;
	// 1000 when 0.
	Capacity float64 `json:"capacity,omitempty"`
	Inputs   []Input `json:"inputs,omitempty"`
	// Share of the job's load that arrives at this source, 1 when 0.
	Share float64 `json:"share,omitempty"`
	// Partitions of a source: subtasks beyond it have nothing to do. 0 means
	// any number.
	Partitions int `json:"partitions,omitempty"`
	// Topic makes the source show one KafkaSourceReader metric per partition,
	// as the Kafka connector does.
	Topic string `json:"topic,omitempty"`
	// Backlog is how many records wait in front of a source at the start.
	Backlog float64 `json:"backlog,omitempty"`
	// Skew makes the hottest subtask get (1 + Skew) times its share.
	Skew float64 `json:"skew,omitempty"`
	// Uneven hands out key groups or partitions as Flink does, whole ones, so
	// that some subtasks get more than others.
	Uneven bool `json:"uneven,omitempty"`
	// SlotGroup names the slot sharing group, "default" when empty.
	SlotGroup string `json:"slotGroup,omitempty"`
	// FailAt makes the job fail whenever the vertex runs at so many subtasks or
	// more, FailAfter its tasks began to run; 0 subtasks: never. FailText is what
	// Flink then says of it; empty: it restarts without a word, as when a slot is
	// lost.
	FailAt    int           `json:"failAt,omitempty"`
	FailAfter time.Duration `json:"failAfter,omitempty"`
	FailText  string        `json:"failText,omitempty"`
	// WaitBelow makes each subtask wait for something that its busy time does not
	// show whenever the vertex runs at fewer subtasks: it then does WaitCapacity
	// records per second and looks as if it could do Capacity. 0 subtasks: never.
	WaitBelow    int     `json:"waitBelow,omitempty"`
	WaitCapacity float64 `json:"waitCapacity,omitempty"`
	// Omit lists endings of metric ids that this vertex does not have, such
	// as "pendingRecords"; NaN those whose value is not a number.
	Omit []string `json:"omit,omitempty"`
	NaN  []string `json:"nan,omitempty"`
}

// JobSpec describes a job.
type JobSpec struct {
	Name string `json:"name"`
	// ID is 32 hex digits; made up when empty.
	ID string `json:"id,omitempty"`
	// Vertices are DefaultVertices when empty.
	Vertices []VertexSpec `json:"vertices,omitempty"`
	// Load arrives at the sources; Constant(1000) when nil.
	Load Load `json:"-"`
	// NotAdaptive runs it under the default scheduler.
	NotAdaptive bool `json:"notAdaptive,omitempty"`
	// CheckpointInterval overrides the cluster's; negative means that the job
	// takes none.
	CheckpointInterval time.Duration `json:"checkpointInterval,omitempty"`
	// Downtime overrides the cluster's.
	Downtime time.Duration `json:"downtime,omitempty"`
}

// DefaultVertices is the usual test job: a fast source, a costly vertex in
// the middle that is the bottleneck (1000 records/s per subtask), a sink.
func DefaultVertices() []VertexSpec {
	return []VertexSpec{
		{Name: "Source: orders", Parallelism: 1, Capacity: 20000},
		{Name: "enrich", Parallelism: 2, Capacity: 1000, Inputs: []Input{{From: "Source: orders", Ship: "HASH"}}},
		{Name: "sink: Writer", Parallelism: 1, Capacity: 5000, Inputs: []Input{{From: "enrich", Ship: "HASH"}}},
	}
}

func (v VertexSpec) withDefaults() VertexSpec {
	if v.ID == "" {
		v.ID = VertexID(v.Name)
	}
	if v.Parallelism <= 0 {
		v.Parallelism = 1
	}
	if v.MaxParallelism <= 0 {
		v.MaxParallelism = 128
	}
	if v.Capacity <= 0 {
		v.Capacity = 1000
	}
	if v.Share == 0 {
		v.Share = 1
	}
	if v.SlotGroup == "" {
		v.SlotGroup = "default"
	}
	v.Parallelism = min(v.Parallelism, v.MaxParallelism)
	v.Inputs = append([]Input(nil), v.Inputs...)
	for i := range v.Inputs {
		in := &v.Inputs[i]
		if in.Ship == "" {
			in.Ship = "HASH"
		}
		switch {
		case in.Selectivity == 0:
			in.Selectivity = 1
		case in.Selectivity < 0:
			in.Selectivity = 0
		}
	}
	return v
}

// VertexID is the id that a vertex of that name gets.
func VertexID(name string) string { return hexID("vertex", name) }

// hexID makes 32 hex digits of words, always the same.
func hexID(words ...string) string {
	h := fnv.New128a()
	_, _ = h.Write([]byte(strings.Join(words, "\x00")))
	return fmt.Sprintf("%032x", h.Sum(nil))
}

// group is a number of subtasks that each get the same share of the records.
type group struct {
	n     int
	share float64
}

// shares says how the records of a vertex spread over p subtasks, hottest
// first; all the shares together are 1.
func (v VertexSpec) shares(p int) []group {
	busy := p
	if v.Partitions > 0 {
		busy = min(p, v.Partitions)
	}
	var out []group
	units := v.units()
	if v.Uneven && units > busy {
		big, each := units%busy, units/busy
		if big > 0 {
			out = append(out, group{big, float64(each+1) / float64(units)})
		}
		out = append(out, group{busy - big, float64(each) / float64(units)})
	} else {
		out = append(out, group{busy, 1 / float64(busy)})
	}
	if v.Skew > 0 && busy > 1 {
		out = skewed(out, v.Skew)
	}
	if busy < p {
		out = append(out, group{p - busy, 0})
	}
	return out
}

// units are what cannot be split further: partitions or key groups.
func (v VertexSpec) units() int {
	if len(v.Inputs) == 0 {
		return v.Partitions
	}
	for _, in := range v.Inputs {
		if in.Ship == "HASH" {
			return v.MaxParallelism
		}
	}
	return 0
}

// skewed takes one subtask out of the first group and lets it have more, at
// the cost of all others alike.
func skewed(in []group, skew float64) []group {
	hot := math.Min(1, in[0].share*(1+skew))
	rest := (1 - hot) / (1 - in[0].share)
	out := []group{{1, hot}}
	for i, g := range in {
		if i == 0 {
			g.n--
		}
		if g.n > 0 {
			out = append(out, group{g.n, g.share * rest})
		}
	}
	return out
}

// capacityAt is what the vertex can take in at p subtasks, in records per
// second: the hottest subtask sets the pace.
func (v VertexSpec) capacityAt(p int) float64 {
	each := v.Capacity
	if p < v.WaitBelow {
		each = v.WaitCapacity
	}
	return each / v.shares(p)[0].share
}
