package flinksim

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// statsBody is how 2.3 and 1.20 sum numbers up.
type statsBody struct {
	Min  int64  `json:"min"`
	Max  int64  `json:"max"`
	Avg  int64  `json:"avg"`
	P50  double `json:"p50"`
	P90  double `json:"p90"`
	P95  double `json:"p95"`
	P99  double `json:"p99"`
	P999 double `json:"p999"`
}

// statsOf sums values up; without any, the percentiles are not numbers.
func statsOf(values []int64) statsBody {
	if len(values) == 0 {
		n := double(math.NaN())
		return statsBody{P50: n, P90: n, P95: n, P99: n, P999: n}
	}
	s := statsBody{Min: values[0], Max: values[0]}
	total := int64(0)
	for _, v := range values {
		s.Min, s.Max = min(s.Min, v), max(s.Max, v)
		total += v
	}
	s.Avg = total / int64(len(values))
	s.P50, s.P90, s.P95, s.P99, s.P999 = double(s.Avg), double(s.Max), double(s.Max), double(s.Max), double(s.Max)
	return s
}

type checkpointBody struct {
	Class       string         `json:"className"`
	ID          int64          `json:"id"`
	Status      string         `json:"status"`
	Savepoint   bool           `json:"is_savepoint"`
	Format      *string        `json:"savepointFormat"`
	Trigger     int64          `json:"trigger_timestamp"`
	LatestAck   int64          `json:"latest_ack_timestamp"`
	Checkpoint  int64          `json:"checkpointed_size"`
	StateSize   int64          `json:"state_size"`
	Duration    int64          `json:"end_to_end_duration"`
	Alignment   int64          `json:"alignment_buffered"`
	Processed   int64          `json:"processed_data"`
	Persisted   int64          `json:"persisted_data"`
	Subtasks    int            `json:"num_subtasks"`
	Acked       int            `json:"num_acknowledged_subtasks"`
	Type        string         `json:"checkpoint_type"`
	Tasks       map[string]any `json:"tasks"`
	Path        *string        `json:"external_path,omitempty"`
	Discarded   *bool          `json:"discarded,omitempty"`
	FailedAt    *int64         `json:"failure_timestamp,omitempty"`
	FailureText *string        `json:"failure_message,omitempty"`
}

const stateSize = 48123

func (j *job) checkpointBody(p *checkpoint) *checkpointBody {
	if p == nil {
		return nil
	}
	b := &checkpointBody{
		ID: p.id, Trigger: millis(p.trigger), Subtasks: p.subtasks, Type: "CHECKPOINT", Tasks: map[string]any{},
	}
	if p.savepoint {
		format := "CANONICAL"
		b.Savepoint, b.Format, b.Type = true, &format, "SYNC_SAVEPOINT"
	}
	switch {
	case p.done:
		path := j.checkpointPath(p)
		b.Class, b.Status, b.Acked = "completed", "COMPLETED", p.subtasks
		b.LatestAck, b.Duration = millis(p.end), p.end.Sub(p.trigger).Milliseconds()
		b.Checkpoint, b.StateSize = stateSize, stateSize
		b.Path, b.Discarded = &path, new(bool)
		*b.Discarded = p != j.checkpoints.completed && !p.savepoint
	case p.failure != "":
		at := millis(p.end)
		b.Class, b.Status, b.FailedAt, b.FailureText = "failed", "FAILED", &at, &p.failure
		b.Duration = p.end.Sub(p.trigger).Milliseconds()
	default:
		b.Class, b.Status, b.LatestAck = "in_progress", "IN_PROGRESS", -1
		b.Duration = j.at.Sub(p.trigger).Milliseconds()
	}
	return b
}

func (j *job) checkpointPath(p *checkpoint) string {
	if p.path != "" {
		return p.path
	}
	return "file:/checkpoints/" + j.spec.ID + "/chk-" + strconv.FormatInt(p.id, 10)
}

type restoredBody struct {
	ID        int64  `json:"id"`
	At        int64  `json:"restore_timestamp"`
	Savepoint bool   `json:"is_savepoint"`
	Path      string `json:"external_path"`
}

type countsBody struct {
	Restored   int64 `json:"restored"`
	Total      int64 `json:"total"`
	InProgress int64 `json:"in_progress"`
	Completed  int64 `json:"completed"`
	Failed     int64 `json:"failed"`
}

type latestBody struct {
	Completed *checkpointBody `json:"completed"`
	Savepoint *checkpointBody `json:"savepoint"`
	Failed    *checkpointBody `json:"failed"`
	Restored  *restoredBody   `json:"restored"`
}

type checkpointsBody struct {
	Counts  countsBody           `json:"counts"`
	Summary map[string]statsBody `json:"summary"`
	Latest  latestBody           `json:"latest"`
	History []*checkpointBody    `json:"history"`
}

func (j *job) checkpointStats(time.Time) reply {
	c := &j.checkpoints
	if !c.on() {
		return refuse(http.StatusNotFound, "Checkpointing has not been enabled.")
	}
	b := checkpointsBody{History: []*checkpointBody{}}
	b.Counts = countsBody{Restored: c.count.restored, Total: c.count.id, Completed: c.count.completed, Failed: c.count.failed}
	if c.pending != nil {
		b.Counts.InProgress = 1
	}
	b.Latest.Completed, b.Latest.Failed = j.checkpointBody(c.completed), j.checkpointBody(c.failed)
	b.Latest.Savepoint = j.checkpointBody(c.savepoint)
	if c.restored != nil {
		b.Latest.Restored = &restoredBody{ID: c.restored.id, At: millis(c.restoredAt), Savepoint: c.restored.savepoint, Path: j.checkpointPath(c.restored)}
	}
	var took, size []int64
	for i := len(c.history) - 1; i >= 0; i-- {
		p := c.history[i]
		b.History = append(b.History, j.checkpointBody(p))
		if p.done {
			took, size = append(took, p.end.Sub(p.trigger).Milliseconds()), append(size, stateSize)
		}
	}
	b.Summary = map[string]statsBody{
		"checkpointed_size": statsOf(size), "state_size": statsOf(size), "end_to_end_duration": statsOf(took),
		"alignment_buffered": {}, "processed_data": statsOf(make([]int64, len(size))), "persisted_data": statsOf(make([]int64, len(size))),
	}
	return ok(b)
}

func (j *job) checkpointConfig() reply {
	c := &j.checkpoints
	if !c.on() {
		return refuse(http.StatusNotFound, "Checkpointing is not enabled for this job ("+j.spec.ID+").")
	}
	return ok(map[string]any{
		"mode": "exactly_once", "interval": c.interval.Milliseconds(), "timeout": c.timeout.Milliseconds(), "min_pause": 0,
		"max_concurrent": 1, "externalization": map[string]bool{"enabled": false, "delete_on_cancellation": true},
		"state_backend": "HashMapStateBackend", "checkpoint_storage": "FileSystemCheckpointStorage", "unaligned_checkpoints": false,
		"tolerable_failed_checkpoints": 0, "aligned_checkpoint_timeout": 0, "checkpoints_after_tasks_finish": true,
		"state_changelog_enabled": false, "changelog_periodic_materialization_interval": 600000, "changelog_storage": "memory",
	})
}

type exceptionBody struct {
	Name       string            `json:"exceptionName"`
	Stack      string            `json:"stacktrace"`
	At         int64             `json:"timestamp"`
	Task       string            `json:"taskName,omitempty"`
	Location   string            `json:"location,omitempty"`
	Endpoint   string            `json:"endpoint,omitempty"`
	Manager    string            `json:"taskManagerId,omitempty"`
	Labels     map[string]string `json:"failureLabels"`
	Concurrent []any             `json:"concurrentExceptions"`
}

type exceptionsBody struct {
	Entries   []exceptionBody `json:"entries"`
	Truncated bool            `json:"truncated"`
}

// oldExceptionsBody is what 1.20 still has besides.
type oldExceptionsBody struct {
	Root      *string        `json:"root-exception"`
	At        *int64         `json:"timestamp"`
	All       []any          `json:"all-exceptions"`
	Truncated bool           `json:"truncated"`
	History   exceptionsBody `json:"exceptionHistory"`
}

func (j *job) exceptions(q *request) any {
	limit := 20
	if n, err := strconv.Atoi(q.query.Get("maxExceptions")); err == nil && n > 0 {
		limit = n
	}
	b := exceptionsBody{Entries: []exceptionBody{}}
	for i, f := range j.failures {
		if i == limit {
			b.Truncated = true
			break
		}
		host, _, _ := strings.Cut(f.manager, "-")
		e := exceptionBody{
			Name: f.class, Stack: f.stack(), At: millis(f.at), Task: f.task, Endpoint: host, Manager: f.manager,
			Labels: map[string]string{}, Concurrent: []any{},
		}
		if !j.c.opt.is23() {
			e.Location = host
		}
		b.Entries = append(b.Entries, e)
	}
	if j.c.opt.is23() {
		return map[string]exceptionsBody{"exceptionHistory": b}
	}
	old := oldExceptionsBody{All: []any{}, History: b}
	if len(j.failures) > 0 {
		text, at := j.failures[0].stack(), millis(j.failures[0].at)
		old.Root, old.At = &text, &at
	}
	return old
}

func (f failure) stack() string {
	return f.class + ": " + f.text + "\n\tat org.apache.flink.runtime.taskmanager.Task.run(Task.java:562)\n\tat java.base/java.lang.Thread.run(Unknown Source)\n"
}
