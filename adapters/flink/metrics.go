package flink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"flinkscaler/core"
)

// readersPerCall is how many things one call reads at a time: less than
// DefaultMaxRequests, so that one large job does not keep out the others.
const readersPerCall = 4

// Measure reads status, topology and metrics in one go. It waits for the
// cluster to fetch its metrics anew, at most two fetch intervals and a second
// (21 s with Flink's defaults).
func (c *Cluster) Measure(ctx context.Context, job core.JobRef, pick core.Picker) (core.Measurement, error) {
	before, err := c.Status(ctx, job)
	if err != nil {
		return core.Measurement{}, err
	}
	m := core.Measurement{Status: before, Config: c.jobConfig(ctx, before.ID)}
	if !before.AllTasksRunning() {
		return m, nil
	}
	r := c.awaitRound(ctx)
	m.Clock, m.Fresh, m.Waited = r.clock, r.fresh, r.waited
	m.SlotsTotal, m.SlotsFree = r.slotsTotal, r.slotsFree
	m.Vertices = c.vertexMetrics(ctx, before, pick)
	m.TaskManagers = c.globalMetrics(ctx, r)
	// The job is read last: with the totals of the same fetch, and so that a
	// restart in between is seen.
	if m.Status, err = c.Status(ctx, job); err != nil {
		return core.Measurement{}, err
	}
	recently, err := c.changedLately(ctx, m.Status)
	if err != nil {
		return core.Measurement{}, err
	}
	m.Restarted = recently || restarted(before, m.Status)
	m.Fresh = m.Fresh && !m.Restarted
	m.SilentTaskManagers = c.silentManagers(ctx, m.Status.Now)
	if !m.Status.AllTasksRunning() {
		m.Vertices, m.TaskManagers = nil, nil
	}
	return m, nil
}

// restarted compares two looks at one job.
func restarted(before, after core.JobStatus) bool {
	return after.State != before.State ||
		!after.RunningSince.Equal(before.RunningSince) ||
		after.Topology.Digest() != before.Topology.Digest() ||
		!after.AllTasksRunning()
}

// clockSlack is for the time between Flink's copying of a graph and our
// reading of its clock.
const clockSlack = 500 * time.Millisecond

// defaultRefresh is Flink's web.refresh-interval.
const defaultRefresh = 3 * time.Second

// changedLately asks the job list, which Flink answers from the job itself,
// whether the status can be a copy from before the job's last change: a
// rescale is then seen in the metrics but not in the status.
func (c *Cluster) changedLately(ctx context.Context, status core.JobStatus) (bool, error) {
	refresh := defaultRefresh
	if v, err := c.Version(ctx); err == nil {
		refresh = v.Refresh
	}
	jobs, err := c.Jobs(ctx)
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(jobs, func(j Job) bool { return j.ID == status.ID })
	if i < 0 {
		return false, &core.OpError{Op: "read job", Subject: status.ID, Err: fmt.Errorf("%w: it left the job list", core.ErrNotFound)}
	}
	return jobs[i].State != status.State || jobs[i].ChangedAt.After(status.Now.Add(-refresh-clockSlack)), nil
}

// vertexMetrics reads the picked metrics of all vertices, a few at a time. A
// vertex whose names cannot be read has none.
func (c *Cluster) vertexMetrics(ctx context.Context, status core.JobStatus, pick core.Picker) []core.VertexMetrics {
	vertices := status.Topology.Vertices
	pick = oneAtATime(pick)
	out := make([]core.VertexMetrics, len(vertices))
	forEach(len(vertices), func(i int) { out[i] = c.oneVertex(ctx, status, vertices[i], pick) })
	return out
}

// oneAtATime lets a picker be written as if vertices were read in turn. Nil
// picks nothing.
func oneAtATime(pick core.Picker) core.Picker {
	var turn sync.Mutex
	return func(v core.Vertex, names []string) []string {
		if pick == nil {
			return nil
		}
		turn.Lock()
		defer turn.Unlock()
		return pick(v, names)
	}
}

// forEach calls do for 0 to n-1, a few at a time, and waits for all.
func forEach(n int, do func(int)) {
	next := make(chan int)
	var readers sync.WaitGroup
	for range min(readersPerCall, n) {
		readers.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	readers.Wait()
}

func (c *Cluster) oneVertex(ctx context.Context, status core.JobStatus, v core.Vertex, pick core.Picker) core.VertexMetrics {
	out := core.VertexMetrics{ID: v.ID}
	path := jobPath(status.ID, "/vertices/"+url.PathEscape(v.ID)+"/subtasks/metrics")
	var err error
	if out.Names, err = c.namesOf(ctx, status, v, path); err != nil {
		return out
	}
	wanted := pick(v, slices.Clone(out.Names))
	out.Values = c.metricValues(ctx, path, v.ID, known(wanted, out.Names))
	return out
}

// metricNames lists the ids that exist under an aggregating path, sorted.
func (c *Cluster) metricNames(ctx context.Context, path, subject string) ([]string, error) {
	return fetch(ctx, c, request{op: "list metrics", subject: subject, path: path}, decodeNames)
}

// metricValues reads the values of ids that exist. Flink answers with an empty
// list when only one of the ids asked for is gone: the names are then read
// once more and the rest is asked for again. What cannot be read is left out.
func (c *Cluster) metricValues(ctx context.Context, path, subject string, ids []string) []core.Aggregate {
	var out []core.Aggregate
	var names []string
	for _, part := range split(path+aggregations, ids) {
		values, err := c.somePart(ctx, path, subject, part)
		if err == nil && len(values) == 0 {
			if names == nil {
				if names, err = c.metricNames(ctx, path, subject); err != nil {
					continue
				}
			}
			if part = known(part, names); len(part) > 0 {
				values, err = c.somePart(ctx, path, subject, part)
			}
		}
		if err == nil {
			out = append(out, values...)
		}
	}
	slices.SortFunc(out, func(a, b core.Aggregate) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(out, func(a, b core.Aggregate) bool { return a.ID == b.ID })
}

// aggregations are all but skew, which nothing needs.
const aggregations = "?agg=min,max,avg,sum&get="

func (c *Cluster) somePart(ctx context.Context, path, subject string, ids []string) ([]core.Aggregate, error) {
	r := request{op: "read metrics", subject: subject, path: path + aggregations + joinIDs(ids)}
	return fetch(ctx, c, r, decodeAggregates)
}

// known gives those of the wanted ids that exist, sorted, each once.
func known(wanted, names []string) []string {
	var out []string
	for _, w := range wanted {
		if slices.Contains(names, w) {
			out = append(out, w)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// split cuts a list of ids so that each request line stays short enough. An id
// that is too long by itself is left out.
func split(prefix string, ids []string) [][]string {
	room := maxRequestLine - len(prefix)
	var out [][]string
	used := room + 1
	for _, id := range ids {
		size := len(url.QueryEscape(id)) + 1
		if size > room {
			continue
		}
		if used+size > room {
			out = append(out, nil)
			used = 0
		}
		out[len(out)-1] = append(out[len(out)-1], id)
		used += size
	}
	return out
}

func joinIDs(ids []string) string {
	escaped := make([]string, 0, len(ids))
	for _, id := range ids {
		escaped = append(escaped, url.QueryEscape(id))
	}
	return strings.Join(escaped, ",")
}

func decodeNames(b []byte) ([]string, error) {
	body, err := fromJSON[*[]struct {
		ID string `json:"id"`
	}](b)
	if err != nil {
		return nil, err
	}
	if body == nil {
		return nil, errors.New("a list of metrics expected")
	}
	out := make([]string, 0, len(*body))
	for _, e := range *body {
		if e.ID != "" {
			out = append(out, e.ID)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func decodeAggregates(b []byte) ([]core.Aggregate, error) {
	body, err := fromJSON[*[]struct {
		ID  string `json:"id"`
		Min number `json:"min"`
		Max number `json:"max"`
		Avg number `json:"avg"`
		Sum number `json:"sum"`
	}](b)
	if err != nil {
		return nil, err
	}
	if body == nil {
		return nil, errors.New("a list of metrics expected")
	}
	out := make([]core.Aggregate, 0, len(*body))
	for _, e := range *body {
		if e.ID != "" {
			out = append(out, core.Aggregate{ID: e.ID, Min: e.Min.float(), Max: e.Max.float(), Avg: e.Avg.float(), Sum: e.Sum.float()})
		}
	}
	return out, nil
}

// decodePlain reads metrics of one thing, whose values are strings.
func decodePlain(b []byte) (map[string]core.Reading, error) {
	body, err := fromJSON[*[]struct {
		ID    string `json:"id"`
		Value number `json:"value"`
	}](b)
	if err != nil {
		return nil, err
	}
	if body == nil {
		return nil, errors.New("a list of metrics expected")
	}
	out := make(map[string]core.Reading, len(*body))
	for _, e := range *body {
		out[e.ID] = e.Value.reading()
	}
	return out, nil
}
