package managed

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"flinkscaler/core"
	"flinkscaler/internal/child"
	"flinkscaler/internal/stack"
	"flinkscaler/workflows"
)

// Quick is a policy with short windows: minutes of a real cluster in seconds. What is
// given is laid over it.
func Quick(more map[string]string) map[string]string {
	p := map[string]string{
		"job.autoscaler.interval":       "2 s",
		"job.autoscaler.metrics.window": "14 s",
		// Flink's ...PerSecond meters need a minute to be right, longer than these
		// windows: counters are used instead.
		"job.autoscaler.metrics.busy-time.aggregator":     "AVG",
		"job.autoscaler.stabilization.interval":           "4 s",
		"job.autoscaler.restart.time":                     "3 s",
		"job.autoscaler.catch-up.duration":                "60 s",
		"job.autoscaler.scale-down.interval":              "10 s",
		"job.autoscaler.utilization.target":               "0.7",
		"job.autoscaler.utilization.max":                  "0.85",
		"job.autoscaler.utilization.min":                  "0.4",
		"job.autoscaler.vertex.max-parallelism":           "8",
		"job.autoscaler.rescale.verify-timeout":           "90 s",
		"job.autoscaler.rescale.backoff":                  "10 s",
		"job.autoscaler.backlog-processing.lag-threshold": "60 s",
	}
	maps.Copy(p, more)
	return p
}

// Size is that of the vertex whose name begins with a text, 0 for none.
func Size(s workflows.Status, name string) int {
	for _, v := range s.Vertices {
		if strings.HasPrefix(v.Name, name) {
			return v.Parallelism
		}
	}
	return 0
}

// Settled is true when the job was judged on fresh data and left as it is.
func Settled(s workflows.Status) bool {
	return s.Reason == core.ReasonWithinTarget || s.Reason == core.ReasonAtLimit || s.Reason == core.ReasonDownDelayed
}

// question bounds one query: the worker may be down.
const question = 10 * time.Second

// Await waits until a job's status is as wished, or ctx ends. The error says all that a
// person would look at.
func Await(ctx context.Context, at *stack.Stack, job core.JobKey, what string, wished func(workflows.Status) bool) (workflows.Status, error) {
	var last workflows.Status
	err := child.WaitFor(ctx, what, func(ctx context.Context) (string, bool, error) {
		ctx, cancel := context.WithTimeout(ctx, question)
		defer cancel()
		var s workflows.Status
		if err := at.Query(ctx, job, workflows.QueryStatus, &s); err != nil {
			return err.Error(), false, nil // it may have only just been started, the worker may be down
		}
		last = s
		return Brief(s), wished(s), nil
	})
	if err != nil {
		return last, fmt.Errorf("%w\n%s", err, Explain(context.WithoutCancel(ctx), at, job))
	}
	return last, nil
}

// Brief is a status in a line.
func Brief(s workflows.Status) string {
	return fmt.Sprintf("%s %s (%s) parallelism %d lag %s cycle %d", s.State, s.Reason, s.Note, s.Parallelism, s.Lag, s.Cycle)
}

// Explain is the last decision, and all decisions and rescales that are remembered.
func Explain(ctx context.Context, at *stack.Stack, job core.JobKey) string {
	ctx, cancel := context.WithTimeout(ctx, question)
	defer cancel()
	var lines []string
	if err := at.Query(ctx, job, workflows.QueryExplain, &lines); err != nil {
		return err.Error()
	}
	var h workflows.History
	_ = at.Query(ctx, job, workflows.QueryHistory, &h) // what cannot be read is empty
	b, _ := json.MarshalIndent(h, "", " ")
	return strings.Join(lines, "\n") + "\n" + string(b)
}
