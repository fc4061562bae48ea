package core

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// ShipStrategy is how records travel along an edge, in Flink's words.
type ShipStrategy string

// The strategies that matter to scaling; Flink has more (REBALANCE, RESCALE,
// BROADCAST, ...), kept as they come.
const (
	ShipHash    ShipStrategy = "HASH"
	ShipForward ShipStrategy = "FORWARD"
)

// Edge is one input of a vertex.
type Edge struct {
	From string       `json:"from"`
	Ship ShipStrategy `json:"ship"`
}

// Vertex is one vertex of the job graph.
type Vertex struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Parallelism is what it runs at now.
	Parallelism int `json:"p"`
	// MaxParallelism is the number of key groups: a hard limit of Flink.
	MaxParallelism int `json:"max"`
	// SlotGroup is the id of the slot sharing group, empty on old versions.
	SlotGroup string `json:"group,omitempty"`
	// Inputs are sorted by From; a vertex without inputs is a source.
	Inputs []Edge `json:"in,omitempty"`
	// Partitions counts the partitions or splits that a source reads, 0 when
	// it does not tell.
	Partitions int `json:"parts,omitempty"`
	// Finished is true once all its tasks are FINISHED.
	Finished bool `json:"finished,omitempty"`
}

// IsSource is true for a vertex without inputs.
func (v Vertex) IsSource() bool { return len(v.Inputs) == 0 }

// Topology is the job graph, sorted by vertex id.
type Topology struct {
	Vertices []Vertex `json:"vertices"`
}

// Find gives the vertex with that id.
func (t Topology) Find(id string) (Vertex, bool) {
	i, ok := slices.BinarySearchFunc(t.Vertices, id, func(v Vertex, id string) int { return strings.Compare(v.ID, id) })
	if !ok {
		return Vertex{}, false
	}
	return t.Vertices[i], true
}

// Sizes is the parallelism of each vertex now.
func (t Topology) Sizes() []VertexSize {
	out := make([]VertexSize, 0, len(t.Vertices))
	for _, v := range t.Vertices {
		out = append(out, VertexSize{ID: v.ID, Parallelism: v.Parallelism})
	}
	return out
}

// Outputs lists the ids of the vertices that read from id, sorted.
func (t Topology) Outputs(id string) []string {
	var out []string
	for _, v := range t.Vertices {
		for _, e := range v.Inputs {
			if e.From == id {
				out = append(out, v.ID)
				break
			}
		}
	}
	return out
}

// Upstream lists every vertex from which records reach id, without id
// itself, sorted.
func (t Topology) Upstream(id string) []string {
	seen := map[string]bool{}
	todo := []string{id}
	for len(todo) > 0 {
		v, ok := t.Find(todo[0])
		todo = todo[1:]
		if !ok {
			continue
		}
		for _, e := range v.Inputs {
			if !seen[e.From] {
				seen[e.From] = true
				todo = append(todo, e.From)
			}
		}
	}
	delete(seen, id)
	out := make([]string, 0, len(seen))
	for k := range seen {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// Ordered gives the vertices so that each comes after all its inputs, ties by
// id. Vertices on a cycle, which Flink never makes, come last in id order.
func (t Topology) Ordered() []Vertex {
	done := make(map[string]bool, len(t.Vertices))
	left := slices.Clone(t.Vertices)
	out := make([]Vertex, 0, len(t.Vertices))
	for len(left) > 0 {
		var later []Vertex
		for _, v := range left {
			if t.inputsDone(v, done) {
				done[v.ID] = true
				out = append(out, v)
				continue
			}
			later = append(later, v)
		}
		if len(later) == len(left) {
			return append(out, later...)
		}
		left = later
	}
	return out
}

func (t Topology) inputsDone(v Vertex, done map[string]bool) bool {
	for _, e := range v.Inputs {
		if _, known := t.Find(e.From); known && !done[e.From] {
			return false
		}
	}
	return true
}

// Digest is a short stable fingerprint: two topologies with one digest are
// the same graph at the same parallelism.
func (t Topology) Digest() string {
	b, err := json.Marshal(t)
	if err != nil {
		return "unprintable"
	}
	h := fnv.New64a()
	_, _ = h.Write(b)
	return fmt.Sprintf("%016x", h.Sum64())
}

// VertexSize is a vertex and a parallelism.
type VertexSize struct {
	ID          string `json:"id"`
	Parallelism int    `json:"p"`
}

// FindSize gives the parallelism of a vertex in a list sorted by id.
func FindSize(sizes []VertexSize, id string) (int, bool) {
	i, ok := slices.BinarySearchFunc(sizes, id, func(v VertexSize, id string) int { return strings.Compare(v.ID, id) })
	if !ok {
		return 0, false
	}
	return sizes[i].Parallelism, true
}
