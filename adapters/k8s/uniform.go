package k8s

import (
	"fmt"

	"flinkscaler/core"
)

// uniform gives each vertex one size, as far as its max parallelism goes.
func uniform(t core.Topology, size int) core.Requirements {
	out := make(core.Requirements, 0, len(t.Vertices))
	for _, v := range t.Vertices {
		out = append(out, core.Bounds{ID: v.ID, Lower: 1, Upper: fit(v, size)})
	}
	return out
}

func fit(v core.Vertex, size int) int {
	if v.MaxParallelism > 0 {
		size = min(size, v.MaxParallelism)
	}
	return max(1, size)
}

// largest is the most that is wanted of any vertex, 0 for none.
func largest(r core.Requirements) int {
	n := 0
	for _, b := range r {
		n = max(n, b.Upper)
	}
	return n
}

// sizes are the upper bounds.
func sizes(r core.Requirements) []core.VertexSize {
	out := make([]core.VertexSize, 0, len(r))
	for _, b := range r {
		out = append(out, core.VertexSize{ID: b.ID, Parallelism: b.Upper})
	}
	return out
}

// refuseList says what is wrong with a list of requirements, before anything is
// written for it: it must have each vertex once, and no number that the vertex
// cannot have. A lower bound must not rise above the present one (I7).
func refuseList(t core.Topology, held, r core.Requirements) error {
	seen := make(map[string]bool, len(r))
	for _, b := range r {
		v, known := t.Find(b.ID)
		present, _ := held.Of(b.ID)
		switch {
		case !known:
			return fmt.Errorf("%w: the job has no vertex %s", core.ErrRefused, b.ID)
		case seen[b.ID]:
			return fmt.Errorf("%w: vertex %s is listed twice", core.ErrRefused, b.ID)
		case b.Lower < 1 || b.Upper < b.Lower:
			return fmt.Errorf("%w: vertex %s cannot have the bounds %d to %d", core.ErrRefused, b.ID, b.Lower, b.Upper)
		case fit(v, b.Upper) != b.Upper:
			return fmt.Errorf("%w: vertex %s cannot run at %d, its max parallelism is %d", core.ErrRefused, b.ID, b.Upper, v.MaxParallelism)
		case b.Lower > present.Lower:
			return fmt.Errorf("%w: the lower bound of vertex %s would rise from %d to %d", core.ErrRefused, b.ID, present.Lower, b.Lower)
		}
		seen[b.ID] = true
	}
	if len(seen) != len(t.Vertices) {
		return fmt.Errorf("%w: %d vertices are listed, the job has %d", core.ErrRefused, len(seen), len(t.Vertices))
	}
	return nil
}

// odd finds a vertex that does not run at the size of the largest one, although
// its max parallelism would let it: the program sets it by itself.
func odd(t core.Topology) (vertex core.Vertex, size int, is bool) {
	for _, v := range t.Vertices {
		size = max(size, v.Parallelism)
	}
	for _, v := range t.Vertices {
		if v.Parallelism != fit(v, size) {
			return v, size, true
		}
	}
	return core.Vertex{}, size, false
}

// groups counts the slot sharing groups. A Flink that does not tell has one.
func groups(t core.Topology) int {
	seen := map[string]bool{}
	for _, v := range t.Vertices {
		seen[v.SlotGroup] = true
	}
	return len(seen)
}

// ceil is how many parts of a size hold n.
func ceil(n, size int) int { return (n + size - 1) / size }
