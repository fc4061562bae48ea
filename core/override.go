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
	var sizes []VertexSize
	var problems []Problem
	add := func(path string, v Vertex, p int) {
		if most := v.MaxParallelism; p < 1 || (most > 0 && p > most) {
			problems = append(problems, Problem{Path: path, Message: sizeProblem(v, p)})
			return
		}
		if had, ok := findAny(sizes, v.ID); ok && had != p {
			problems = append(problems, Problem{Path: path, Message: fmt.Sprintf("the same vertex is also set to %d", had)})
			return
		} else if ok {
			return
		}
		sizes = append(sizes, VertexSize{ID: v.ID, Parallelism: p})
	}
	switch {
	case o.Parallelism != 0 && len(o.Vertices) > 0:
		problems = append(problems, Problem{Path: "override", Message: "give either parallelism or vertices, not both"})
	case len(o.Vertices) == 0:
		for _, v := range t.Vertices {
			if !v.Finished {
				add("override.parallelism", v, o.Parallelism)
			}
		}
	}
	if o.Parallelism == 0 {
		for _, want := range o.Vertices {
			path := fmt.Sprintf("override.vertices[%q]", want.ID)
			v, problem := t.lookUp(want.ID)
			if problem != "" {
				problems = append(problems, Problem{Path: path, Message: problem})
				continue
			}
			add(path, v, want.Parallelism)
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	slices.SortFunc(sizes, func(a, b VertexSize) int { return strings.Compare(a.ID, b.ID) })
	return sizes, nil
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
	switch len(found) {
	case 1:
		return found[0], ""
	case 0:
		return Vertex{}, "no such vertex; there are " + strings.Join(names, ", ")
	}
	ids := make([]string, 0, len(found))
	for _, v := range found {
		ids = append(ids, v.ID)
	}
	return Vertex{}, "more than one vertex has that name; use an id: " + strings.Join(ids, ", ")
}
