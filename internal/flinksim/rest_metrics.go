package flinksim

import (
	"slices"
	"strconv"
	"strings"
)

// serveVertexMetrics answers below /jobs/:id/vertices/:vid/. What is not in
// the store has no metrics, which is not an error.
func (c *Cluster) serveVertexMetrics(q *request) (reply, bool) {
	rest := strings.Join(q.parts[4:], "/")
	one := -1
	switch {
	case rest == "subtasks/metrics", rest == "metrics":
	case len(q.parts) == 7 && q.parts[4] == "subtasks" && q.parts[6] == "metrics":
		n, err := strconv.Atoi(q.parts[5])
		if err != nil || n < 0 {
			return badParameter("path", "subtaskindex", q.parts[5]), true
		}
		one = n
	default:
		return reply{}, false
	}
	if !hexPattern.MatchString(q.parts[3]) {
		return badParameter("path", "vertexid", q.parts[3]), true
	}
	modes, bad, fine := aggModes(q)
	if !fine {
		return bad, true
	}
	now := c.enter()
	defer c.mu.Unlock()
	defer c.touch(now)
	snap, cat := c.stored(q.parts[1], strings.ToLower(q.parts[3]))
	switch {
	case snap == nil:
		return ok([]plainMetric{}), true
	case rest == "metrics":
		return ok(perSubtask(q, snap, cat)), true
	case one >= 0:
		return ok(ofSubtask(q, snap, cat, one)), true
	}
	return ok(aggregated(q, snap, cat, modes, subtaskFilter(q))), true
}

// stored is what the last fetch knows of a vertex.
func (c *Cluster) stored(jobID, vertexID string) (*vertexSnap, *catalog) {
	j := c.jobs[jobID]
	if j == nil || j.snap == nil {
		return nil, nil
	}
	for i := range j.vertices {
		if v := &j.vertices[i]; v.spec.ID == vertexID {
			cat := c.catalogOf(v, j.last(i))
			if j.snap.young {
				cat = cat.withoutTimeGauges()
			}
			return &j.snap.vertices[i], cat
		}
	}
	return nil, nil
}

// aggregated answers with aggregates, all or nothing: one id that is not
// there empties the answer. What is no number is only left out.
func aggregated(q *request, s *vertexSnap, cat *catalog, modes []string, only func(int) bool) []aggregate {
	out := []aggregate{}
	if len(s.each(kZero, only)) == 0 {
		return out
	}
	get := q.query.Get("get")
	if get == "" {
		for _, id := range cat.ids {
			out = append(out, aggregate{ID: id})
		}
		return out
	}
	for _, id := range strings.Split(get, ",") {
		k, have := cat.kind[id]
		if !have {
			return []aggregate{}
		}
		if k != kText {
			out = append(out, aggregateOf(id, s.each(k, only), modes))
		}
	}
	return out
}

// perSubtask answers the plain endpoint, whose ids begin with the index.
func perSubtask(q *request, s *vertexSnap, cat *catalog) []plainMetric {
	out := []plainMetric{}
	n := len(s.each(kZero, nil))
	get := q.query.Get("get")
	if get == "" {
		for i := range n {
			for _, id := range cat.ids {
				out = append(out, plainMetric{ID: strconv.Itoa(i) + "." + id})
			}
		}
		return out
	}
	for _, full := range strings.Split(get, ",") {
		index, id, _ := strings.Cut(full, ".")
		i, err := strconv.Atoi(index)
		k, have := cat.kind[id]
		if err == nil && have && i >= 0 && i < n {
			out = append(out, plainMetric{full, text(k, s.each(k, nil)[i])})
		}
	}
	return out
}

func ofSubtask(q *request, s *vertexSnap, cat *catalog, i int) []plainMetric {
	out := []plainMetric{}
	if i >= len(s.each(kZero, nil)) {
		return out
	}
	get := q.query.Get("get")
	if get == "" {
		for _, id := range cat.ids {
			out = append(out, plainMetric{ID: id})
		}
		return out
	}
	for _, id := range strings.Split(get, ",") {
		if k, have := cat.kind[id]; have {
			out = append(out, plainMetric{id, text(k, s.each(k, nil)[i])})
		}
	}
	return out
}

// text is how a plain endpoint writes a value.
func text(k kind, x float64) string {
	switch k {
	case kText:
		return "false"
	case kInRate, kOutRate, kNaN:
		return javaDouble(x)
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// subtaskFilter reads subtasks=0,3-5; nil takes all. What is no number picks
// nothing.
func subtaskFilter(q *request) func(int) bool {
	s := q.query.Get("subtasks")
	if s == "" {
		return nil
	}
	type span struct{ from, to int }
	var spans []span
	for _, p := range strings.Split(s, ",") {
		a, b, isRange := strings.Cut(p, "-")
		if !isRange {
			b = a
		}
		from, err1 := strconv.Atoi(a)
		to, err2 := strconv.Atoi(b)
		if err1 == nil && err2 == nil {
			spans = append(spans, span{from, to})
		}
	}
	return func(i int) bool {
		return slices.ContainsFunc(spans, func(x span) bool { return i >= x.from && i <= x.to })
	}
}
