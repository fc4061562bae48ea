package core

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Active is true while the override is in force.
func (o *Override) Active(now time.Time) bool {
	return o != nil && (o.Until.IsZero() || now.Before(o.Until))
}

// Active is true while the pause is in force.
func (p *Pause) Active(now time.Time) bool {
	return p != nil && (p.Until.IsZero() || now.Before(p.Until))
}

// Resolve finds the vertices that the override means and checks the sizes:
// each vertex exists, by id or by a name that only one has, and each size lies
// between 1 and the vertex' max parallelism. Finished vertices are left out of
// an override for all. The sizes are sorted by id; with problems there are
// none.
func (o Override) Resolve(t Topology) ([]VertexSize, []Problem) {
	r := resolution{}
	switch {
	case o.Parallelism != 0 && len(o.Vertices) > 0:
		r.problem("override", "give either parallelism or vertices, not both")
	case len(o.Vertices) > 0:
		r.named(o.Vertices, t)
	default:
		for _, v := range t.Vertices {
			if !v.Finished {
				r.add("override.parallelism", v, o.Parallelism)
			}
		}
	}
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	slices.SortFunc(r.sizes, func(a, b VertexSize) int { return strings.Compare(a.ID, b.ID) })
	return r.sizes, nil
}

// resolution collects sizes and problems of an override.
type resolution struct {
	sizes    []VertexSize
	problems []Problem
}

func (r *resolution) problem(path, message string) {
	r.problems = append(r.problems, Problem{Path: path, Message: message})
}

func (r *resolution) named(wanted []VertexSize, t Topology) {
	for _, want := range wanted {
		path := fmt.Sprintf("override.vertices[%q]", want.ID)
		v, problem := t.lookUp(want.ID)
		if problem != "" {
			r.problem(path, problem)
			continue
		}
		r.add(path, v, want.Parallelism)
	}
}

// add takes one size in, unless it is impossible or says what is known.
func (r *resolution) add(path string, v Vertex, p int) {
	had, known := findAny(r.sizes, v.ID)
	switch {
	case p < 1 || (v.MaxParallelism > 0 && p > v.MaxParallelism):
		r.problem(path, sizeProblem(v, p))
	case known && had != p:
		r.problem(path, fmt.Sprintf("the same vertex is also set to %d", had))
	case !known:
		r.sizes = append(r.sizes, VertexSize{ID: v.ID, Parallelism: p})
	}
}

func sizeProblem(v Vertex, p int) string {
	if v.MaxParallelism < 1 {
		return fmt.Sprintf("must be at least 1, got %d (vertex %q)", p, v.Name)
	}
	return fmt.Sprintf("must be between 1 and %d, the max parallelism of %q, got %d", v.MaxParallelism, v.Name, p)
}

func findAny(sizes []VertexSize, id string) (int, bool) {
	for _, s := range sizes {
		if s.ID == id {
			return s.Parallelism, true
		}
	}
	return 0, false
}

// lookUp finds a vertex by id, else by exact name, or says why it cannot.
func (t Topology) lookUp(idOrName string) (Vertex, string) {
	if v, ok := t.Find(idOrName); ok {
		return v, ""
	}
	var found []Vertex
	var names []string
	for _, v := range t.Vertices {
		names = append(names, fmt.Sprintf("%q (%s)", v.Name, v.ID))
		if v.Name == idOrName {
			found = append(found, v)
		}
	}
	switch {
	case len(names) == 0:
		return Vertex{}, "cannot be looked up yet: the job shows no vertices; it is tried again at the next look"
	case len(found) == 1:
		return found[0], ""
	case len(found) == 0:
		return Vertex{}, "no such vertex; there are " + strings.Join(names, ", ")
	}
	ids := make([]string, 0, len(found))
	for _, v := range found {
		ids = append(ids, v.ID)
	}
	return Vertex{}, "more than one vertex has that name; use an id: " + strings.Join(ids, ", ")
}
