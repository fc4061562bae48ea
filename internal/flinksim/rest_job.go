package flinksim

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

func (c *Cluster) serveJobs(q *request) (reply, bool) {
	if len(q.parts) == 1 || (len(q.parts) == 2 && q.parts[1] == "overview") {
		if q.method != http.MethodGet {
			return reply{}, false
		}
		return ok(c.jobList(len(q.parts) == 2)), true
	}
	id := q.parts[1]
	if !hexPattern.MatchString(id) {
		if c.knows(q.parts[2:]) {
			return badParameter("path", "jobid", id), true
		}
		return reply{}, false
	}
	q.parts[1] = strings.ToLower(id)
	rest := strings.Join(q.parts[2:], "/")
	switch {
	case rest == "resource-requirements":
		return c.serveRequirements(q)
	case rest == "stop":
		return c.serveStop(q)
	case strings.HasPrefix(rest, "savepoints/"):
		return c.serveStopped(q)
	case rest == "" && q.method == http.MethodPatch, rest == "yarn-cancel" && q.method == http.MethodGet:
		return c.serveCancel(q), true
	case q.method != http.MethodGet:
		return reply{}, false
	case len(q.parts) >= 5 && q.parts[2] == "vertices":
		return c.serveVertexMetrics(q)
	case rest == "metrics":
		return ok(c.jobMetrics(q)), true
	}
	return c.serveJob(q, rest)
}

// knows is true for the rest of a path of which /jobs/:id/ is the begin.
func (c *Cluster) knows(rest []string) bool {
	switch {
	case len(rest) == 0:
		return true
	case rest[0] == "rescales":
		return c.opt.is23()
	}
	switch rest[0] {
	case "status", "config", "plan", "resource-requirements", "checkpoints", "exceptions", "jobmanager", "metrics", "vertices", "yarn-cancel", "savepoints", "stop":
		return true
	}
	return false
}

func (c *Cluster) serveJob(q *request, rest string) (reply, bool) {
	now := c.enter()
	defer c.mu.Unlock()
	if !c.knows(q.parts[2:]) {
		return reply{}, false
	}
	j := c.jobs[q.parts[1]]
	if j == nil {
		return jobNotFound(q.parts[1]), true
	}
	j.advance(now)
	switch rest {
	case "":
		c.touch(now)
		return ok(j.details(now)), true
	case "status":
		return ok(map[string]string{"status": string(j.state)}), true
	case "plan":
		return ok(map[string]any{"plan": j.newGraph(now).plan}), true
	case "config":
		return ok(j.executionConfig()), true
	case "jobmanager/config":
		return ok(c.jobManagerConfigOf(j)), true
	case "checkpoints":
		return j.checkpointStats(now), true
	case "checkpoints/config":
		return j.checkpointConfig(), true
	case "exceptions":
		return ok(j.exceptions(q)), true
	}
	if strings.HasPrefix(rest, "rescales/") {
		return j.serveRescales(q.parts[3:])
	}
	return reply{}, false
}

// jobManagerConfigOf shows the cluster's keys. Under the default scheduler
// jobmanager.scheduler says so.
func (c *Cluster) jobManagerConfigOf(j *job) []keyValue {
	out := c.jobManagerConfig()
	if j.spec.NotAdaptive {
		for i := range out {
			if out[i].Key == "jobmanager.scheduler" {
				out[i].Value = "default"
			}
		}
	}
	return out
}

func (c *Cluster) serveCancel(q *request) reply {
	if rep, fine := cancelMode(q); !fine {
		return rep
	}
	now := c.enter()
	defer c.mu.Unlock()
	j := c.jobs[q.parts[1]]
	if j == nil {
		return jobNotFound(q.parts[1])
	}
	j.advance(now)
	if !j.state.ended() {
		_ = j.end(canceled, now)
		c.run(now)
	} else if j.state == finished {
		return refuse(http.StatusConflict, "Job cancellation failed because the job has already reached another terminal state ("+string(j.state)+").")
	} else if j.state != canceled {
		return errorReply(http.StatusNotFound, trace("org.apache.flink.runtime.rest.NotFoundException", "Job "+q.parts[1]+" has already reached another terminal state ("+string(j.state)+")."))
	}
	return reply{status: http.StatusAccepted, body: struct{}{}}
}

func jobStates() []string {
	return []string{"INITIALIZING", "CREATED", "RUNNING", "FAILING", "FAILED", "CANCELLING", "CANCELED", "FINISHED", "RESTARTING", "SUSPENDED", "RECONCILING"}
}

func taskStates() []string {
	return []string{"CREATED", "SCHEDULED", "DEPLOYING", "INITIALIZING", "RUNNING", "FINISHED", "CANCELING", "CANCELED", "FAILED", "RECONCILING"}
}

func zeros(keys []string) map[string]int {
	m := make(map[string]int, len(keys))
	for _, k := range keys {
		m[k] = 0
	}
	return m
}

func (j *job) endMillis() int64 {
	if j.ended.IsZero() {
		return -1
	}
	return millis(j.ended)
}

func (j *job) duration(now time.Time) int64 {
	if !j.ended.IsZero() {
		now = j.ended
	}
	return now.Sub(j.since).Milliseconds()
}

// taskState is the state of all the tasks, "" when there are none.
func (j *job) taskState() string {
	switch {
	case j.state == created:
		return ""
	case j.state == restarting:
		return "CANCELING"
	case j.state == canceled:
		return "CANCELED"
	case j.state == finished:
		return "FINISHED"
	case j.state == failed:
		return "FAILED"
	case j.up:
		return "RUNNING"
	}
	return "INITIALIZING"
}

func (j *job) scheduler() string {
	if j.spec.NotAdaptive {
		return "Default"
	}
	return "Adaptive"
}

type jobListEntry struct {
	ID         string         `json:"jid"`
	Name       string         `json:"name"`
	Type       string         `json:"jobType,omitempty"`
	Scheduler  string         `json:"schedulerType,omitempty"`
	Start      int64          `json:"start-time"`
	End        int64          `json:"end-time"`
	Duration   int64          `json:"duration"`
	State      state          `json:"state"`
	Modified   int64          `json:"last-modification"`
	Tasks      map[string]int `json:"tasks"`
	PendingOps *int           `json:"pending-operators,omitempty"`
}

func (c *Cluster) jobList(full bool) any {
	now := c.enter()
	defer c.mu.Unlock()
	if !full {
		out := []map[string]string{}
		for _, j := range c.order {
			out = append(out, map[string]string{"id": j.spec.ID, "status": string(j.state)})
		}
		return map[string]any{"jobs": out}
	}
	out := make([]jobListEntry, 0, len(c.order))
	for _, j := range c.order {
		e := jobListEntry{
			ID: j.spec.ID, Name: j.spec.Name, Start: millis(j.since), End: j.endMillis(), Duration: j.duration(now),
			State: j.state, Modified: millis(j.modified()), Tasks: map[string]int{"total": 0},
		}
		for _, s := range taskStates() {
			e.Tasks[strings.ToLower(s)] = 0
		}
		if s := j.taskState(); s != "" {
			e.Tasks["total"] = j.tasks()
			e.Tasks[strings.ToLower(s)] = j.tasks()
		}
		if c.opt.is23() {
			e.Type, e.Scheduler, e.PendingOps = "STREAMING", j.scheduler(), new(int)
		}
		out = append(out, e)
	}
	return map[string]any{"jobs": out}
}

// modified is when the state of the job or of a task last changed.
func (j *job) modified() time.Time {
	t := latest(j.since, j.ended)
	for _, s := range j.stamps {
		t = latest(t, s)
	}
	if j.up {
		t = latest(t, j.upAt)
	}
	return t
}

type ioMetrics struct {
	ReadBytes       int64  `json:"read-bytes"`
	ReadBytesOK     bool   `json:"read-bytes-complete"`
	WriteBytes      int64  `json:"write-bytes"`
	WriteBytesOK    bool   `json:"write-bytes-complete"`
	ReadRecords     int64  `json:"read-records"`
	ReadRecordsOK   bool   `json:"read-records-complete"`
	WriteRecords    int64  `json:"write-records"`
	WriteRecordsOK  bool   `json:"write-records-complete"`
	AccBackPressure int64  `json:"accumulated-backpressured-time"`
	AccIdle         int64  `json:"accumulated-idle-time"`
	AccBusy         double `json:"accumulated-busy-time"`
}

type vertexBody struct {
	ID        string         `json:"id"`
	SlotGroup string         `json:"slotSharingGroupId"`
	Name      string         `json:"name"`
	Max       int            `json:"maxParallelism"`
	Par       int            `json:"parallelism"`
	Status    string         `json:"status"`
	Start     int64          `json:"start-time"`
	End       int64          `json:"end-time"`
	Duration  int64          `json:"duration"`
	Tasks     map[string]int `json:"tasks"`
	Metrics   ioMetrics      `json:"metrics"`
}

type planInput struct {
	Num      int    `json:"num"`
	ID       string `json:"id"`
	Ship     string `json:"ship_strategy"`
	Exchange string `json:"exchange"`
}

type planNode struct {
	ID       string         `json:"id"`
	Par      int            `json:"parallelism"`
	Operator string         `json:"operator"`
	Strategy string         `json:"operator_strategy"`
	Text     string         `json:"description"`
	Inputs   []planInput    `json:"inputs,omitempty"`
	Props    map[string]any `json:"optimizer_properties"`
}

type plan struct {
	ID    string      `json:"jid"`
	Name  string      `json:"name"`
	Type  string      `json:"type"`
	Nodes *[]planNode `json:"nodes,omitempty"`
}

type jobBody struct {
	ID          string           `json:"jid"`
	Application string           `json:"application-id,omitempty"`
	Name        string           `json:"name"`
	Stoppable   bool             `json:"isStoppable"`
	State       state            `json:"state"`
	Type        string           `json:"job-type"`
	Scheduler   string           `json:"schedulerType,omitempty"`
	Start       int64            `json:"start-time"`
	End         int64            `json:"end-time"`
	Duration    int64            `json:"duration"`
	Max         int              `json:"maxParallelism"`
	Now         int64            `json:"now"`
	Stamps      map[string]int64 `json:"timestamps"`
	Vertices    []vertexBody     `json:"vertices"`
	Counts      map[string]int   `json:"status-counts"`
	Plan        plan             `json:"plan"`
	PendingOps  *int             `json:"pending-operators,omitempty"`
}

// graph is what the JobManager remembers of a job for web.refresh-interval.
type graph struct {
	at       time.Time
	attempt  int
	state    state
	max      int
	stamps   map[string]int64
	vertices []vertexBody
	counts   map[string]int
	plan     plan
	started  time.Time
	ended    time.Time
}

// details is GET /jobs/:id: the graph may be old, the clock is not, and the
// metrics are those of the last fetch.
func (j *job) details(now time.Time) jobBody {
	g := j.cache
	if g == nil || now.Sub(g.at) >= j.c.opt.CacheTime {
		g = j.newGraph(now)
		j.cache = g
	}
	b := jobBody{
		ID: j.spec.ID, Name: j.spec.Name, State: g.state, Type: "STREAMING", Start: millis(j.since), End: j.endMillis(),
		Duration: j.duration(now), Max: g.max, Now: millis(now), Stamps: g.stamps, Counts: g.counts, Plan: g.plan,
		Vertices: append([]vertexBody{}, g.vertices...),
	}
	for i := range b.Vertices {
		v := &b.Vertices[i]
		if !g.started.IsZero() {
			v.Duration = now.Sub(g.started).Milliseconds()
		}
		v.Metrics = j.ioMetrics(i, g)
	}
	if j.c.opt.is23() {
		b.Application, b.Scheduler, b.PendingOps = j.spec.ID, j.scheduler(), new(int)
	}
	return b
}

// ioMetrics of a vertex: zeros that are not complete until a fetch has seen
// the attempt.
func (j *job) ioMetrics(i int, g *graph) ioMetrics {
	s := j.snap
	if s == nil || s.attempt != g.attempt || g.state == created {
		return ioMetrics{}
	}
	v := &s.vertices[i]
	m := ioMetrics{ReadBytesOK: true, WriteBytesOK: true, ReadRecordsOK: true, WriteRecordsOK: true}
	m.ReadRecords = int64(v.sum(kIn))
	if !j.vertices[i].source() {
		m.ReadBytes = int64(v.sum(kBytesIn))
	}
	if !j.last(i) {
		m.WriteRecords = int64(v.sum(kOut))
		m.WriteBytes = int64(v.sum(kBytesOut))
	}
	m.AccBackPressure = int64(v.sum(kHeldTotal))
	m.AccIdle = int64(v.sum(kIdleTotal))
	m.AccBusy = double(v.sum(kBusyTotal))
	if s.young {
		m.AccBusy = double(math.NaN())
	}
	return m
}

// last is true for a vertex from which nothing goes on: it holds the sink.
func (j *job) last(i int) bool { return j.vertices[i].selectivity == 0 }

func (j *job) newGraph(now time.Time) *graph {
	g := &graph{at: now, attempt: j.attempt, state: j.state, stamps: map[string]int64{}, counts: zeros(taskStates()), ended: j.ended}
	for _, s := range jobStates() {
		g.stamps[s] = 0
	}
	g.stamps["INITIALIZING"] = millis(j.since)
	if j.state != created {
		for s, t := range j.stamps {
			g.stamps[string(s)] = millis(t)
		}
		g.started = j.stamps[running]
	}
	g.plan = plan{ID: j.spec.ID, Name: j.spec.Name, Type: "STREAMING"}
	if j.state != created || j.c.opt.is23() {
		g.plan.Nodes = &[]planNode{}
	}
	g.max = -1
	task := j.taskState()
	for i := range j.vertices {
		v := &j.vertices[i]
		b := vertexBody{
			ID: v.spec.ID, SlotGroup: hexID("group", v.spec.SlotGroup), Name: v.spec.Name, Max: v.spec.MaxParallelism, Par: 1,
			Status: "CREATED", Start: -1, End: -1, Duration: -1, Tasks: zeros(taskStates()),
		}
		if task != "" {
			b.Par, b.Status, b.Start = v.par, task, millis(g.started)
			b.Tasks[task] = v.par
			g.max = max(g.max, v.spec.MaxParallelism)
			*g.plan.Nodes = append(*g.plan.Nodes, j.planNode(v))
			if !j.ended.IsZero() {
				b.End = millis(j.ended)
			}
		}
		g.counts[b.Status]++
		g.vertices = append(g.vertices, b)
	}
	return g
}

func (j *job) planNode(v *vertex) planNode {
	n := planNode{ID: v.spec.ID, Par: v.par, Text: strings.ReplaceAll(v.spec.Name, " -> ", "<br/>+- ") + "<br/>", Props: map[string]any{}}
	for k, in := range v.spec.Inputs {
		n.Inputs = append(n.Inputs, planInput{Num: k, ID: j.vertices[v.inputs[k].from].spec.ID, Ship: in.Ship, Exchange: "pipelined_bounded"})
	}
	return n
}

func (j *job) executionConfig() any {
	return map[string]any{
		"jid": j.spec.ID, "name": j.spec.Name,
		"execution-config": map[string]any{
			"restart-strategy": "Restart with fixed delay (500 ms). #1000000 restart attempts.", "job-parallelism": 1,
			"object-reuse-mode": false, "user-config": map[string]string{},
		},
	}
}

// jobMetrics are the job's own metrics, as text.
func (c *Cluster) jobMetrics(q *request) []plainMetric {
	now := c.enter()
	defer c.mu.Unlock()
	defer c.touch(now)
	j := c.jobs[q.parts[1]]
	if j == nil || !j.own.known {
		return []plainMetric{}
	}
	s := j.own
	have := []plainMetric{
		{"numRestarts", strconv.Itoa(s.restarts)},
		{"fullRestarts", strconv.Itoa(s.restarts)},
		{"lastCheckpointDuration", strconv.FormatInt(s.lastTook.Milliseconds(), 10)},
		{"numberOfFailedCheckpoints", strconv.FormatInt(s.failed, 10)},
		{"runningTime", strconv.FormatInt(max(0, c.fetch.at.Sub(s.upSince).Milliseconds()), 10)},
		{"restartingTime", "0"},
		{"initializingTime", "0"},
	}
	if c.opt.is23() {
		have = append(have, plainMetric{"numRescales", strconv.Itoa(s.rescaled)})
	}
	return plain(q, have)
}
