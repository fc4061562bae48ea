package policy

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Floor is a size that vertices have at least while a period holds.
type Floor struct {
	Period Period
	// All is for every vertex, 0 when Vertices are named.
	All      int
	Vertices []VertexCount
}

// String is the floor as it could be written.
func (f Floor) String() string {
	if f.All > 0 {
		return fmt.Sprintf("%s = %d", f.Period, f.All)
	}
	sizes := make([]string, 0, len(f.Vertices))
	for _, v := range f.Vertices {
		sizes = append(sizes, fmt.Sprintf("%s:%d", v.ID, v.N))
	}
	return fmt.Sprintf("%s = %s", f.Period, strings.Join(sizes, ","))
}

// For is the size that the floor asks of a vertex, 0 for none.
func (f Floor) For(id string) int {
	for _, v := range f.Vertices {
		if v.ID == id {
			return v.N
		}
	}
	return f.All
}

// FloorFor is the largest floor of a vertex among the entries that hold now or
// at some moment within the lead time after now, and the entry that says so.
// It is 0 where there is none.
func (p Policy) FloorFor(id string, now time.Time) (n int, because string) {
	for _, f := range p.Floors {
		want := f.For(id)
		if want <= n {
			continue
		}
		at, ok := f.Period.next(now, now.Add(p.FloorLead), p.zone(), true)
		if !ok {
			continue
		}
		n, because = want, f.Period.String()
		if at.After(now) {
			because += ", from " + at.In(p.zone()).Format("15:04:05 MST")
		}
	}
	return n, because
}

func parseFloors(text string) ([]Floor, error) {
	entries, err := parseList(text)
	if err != nil {
		return nil, err
	}
	var out []Floor
	var problems []error
	for _, e := range entries {
		f, err := parseFloor(e)
		if err != nil {
			problems = append(problems, fmt.Errorf("%q: %w", e, err))
			continue
		}
		out = append(out, f)
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return out, nil
}

func parseFloor(entry string) (Floor, error) {
	period, sizes, ok := strings.Cut(entry, "=")
	if !ok {
		return Floor{}, fmt.Errorf("not of the form <period> = <number>")
	}
	p, err := ParsePeriod(period)
	if err != nil {
		return Floor{}, err
	}
	if !strings.Contains(sizes, ":") {
		n, err := parseInt(sizes)
		if err != nil || n < 1 {
			return Floor{}, fmt.Errorf("must be a whole number of at least 1, got %q", strings.TrimSpace(sizes))
		}
		return Floor{Period: p, All: n}, nil
	}
	vertices, err := parseCounts(sizes)
	if err == nil && len(vertices) == 0 {
		err = fmt.Errorf("no sizes are given")
	}
	return Floor{Period: p, Vertices: vertices}, err
}
