package reference

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"flinkscaler/core"
	"flinkscaler/internal/telemetry"
	"flinkscaler/workflows"
)

// ourMetrics begin with this.
const ourMetrics = "flink_autoscaler_"

// meanings says what each metric counts, without what is appended to its name.
func meanings() map[string]string {
	return map[string]string{
		workflows.MetricDecisions: "decisions, one per job and cycle; `reason` is one of the [reasons](reasons.md), `verdict` is `hold` or `change`",
		workflows.MetricMessages:  "[messages](messages.md) to jobs; `result` is `done` or `refused`, `message` is `unknown` for a signal of no known name",
		workflows.MetricRescales:  "rescales that have ended; `outcome` and `reason` as in [reasons](reasons.md), reason `none` where all went well",
	}
}

// metricsPage lists the metrics as the worker serves them.
func metricsPage() (string, error) {
	now := func() time.Time { return time.Unix(0, 0) }
	m := telemetry.NewMetrics("", hclog.NewNullLogger(), now)
	h := m.Temporal()
	h.WithTags(map[string]string{"cluster": "c", "verdict": "v", "reason": "r"}).Counter(workflows.MetricDecisions).Inc(1)
	h.WithTags(map[string]string{"cluster": "c", "outcome": "o", "reason": "r"}).Counter(workflows.MetricRescales).Inc(1)
	h.WithTags(map[string]string{"cluster": "c", "message": "m", "result": "r"}).Counter(workflows.MetricMessages).Inc(1)
	m.Decisions.Decided(core.JobKey{Cluster: "c", Job: "j"}, core.Decision{}, now())
	if err := m.Close(); err != nil {
		return "", err
	}
	families, err := m.Registry.Gather()
	if err != nil {
		return "", err
	}
	var rows [][]string
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), ourMetrics) {
			continue
		}
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, code(l.GetName()))
		}
		meaning, known := meanings()[strings.TrimSuffix(f.GetName(), "_total")]
		if !known {
			meaning = cell(f.GetHelp())
		}
		rows = append(rows, []string{code(f.GetName()), strings.ToLower(f.GetType().String()), strings.Join(labels, ", "), meaning})
	}
	if len(rows) < len(meanings())+2 {
		return "", fmt.Errorf("only %d metrics of our own came out of the worker's registry", len(rows))
	}
	slices.SortFunc(rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	p := newPage("Metrics")
	p.say("On `/metrics` of the worker, in Prometheus' format. Counters of workflows are counted once, not again when a history is replayed; the SDK adds its own labels to them, such as `namespace` and `task_queue`. No metric has a vertex or a workflow id as label.")
	p.section("Our own")
	p.table([]string{"metric", "type", "labels", "meaning"}, rows)
	p.section("Of the Temporal SDK, worth an alert")
	p.table([]string{"metric", "what it shows"}, [][]string{
		{"`temporal_workflow_task_schedule_to_start_latency_seconds`", "above a second: too few workers, or none"},
		{"`temporal_activity_schedule_to_start_latency_seconds`", "above some seconds: too few workers, or all of `limits.activities` are waiting for clusters that do not answer"},
		{"`temporal_worker_task_slots_available`", "near 0 for `worker_type=\"ActivityWorker\"`: raise `limits.activities`"},
		{"`temporal_workflow_task_execution_failed_total`", "more than 0 after an upgrade: a workflow does not replay; go back to the version before"},
		{"`temporal_long_request_failure_total`", "Temporal does not answer"},
	})
	p.section("Alerts to begin with")
	p.say("[`deploy/prometheus-rules.yaml`](../../deploy/prometheus-rules.yaml); what each means and what to do: [alarms](../operations/alarms.md).")
	return p.text(), nil
}
