//go:build e2e

package k8s

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"flinkscaler/core"
	"flinkscaler/e2e/managed"
	"flinkscaler/e2e/testjob"
	"flinkscaler/internal/child"
	"flinkscaler/internal/kubelocal/kubetest"
	"flinkscaler/workflows"
)

// The load of these tests: what the job is to do in records per second. A subtask
// of its slow vertex does 1,000.
const (
	little = 500
	much   = 3500
)

// TestTheWholeProduct: a workflow that was started with tctl sees the load of a
// real job rise, patches the key of its FlinkDeployment, the real operator carries
// that to a real Flink, the job runs on in place at the new size, and an Event on the
// object and the history of the workflow tell of it. Beside it the same load is put
// upon the operator's own autoscaler, and both lists of decisions are printed.
func TestTheWholeProduct(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ours, ourRates := kubetest.Application(t, "ours")
	theirs, theirRates := kubetest.Application(t, "theirs")
	theirs.Config = operatorsAutoscaler()
	both := func(rate float64) {
		must(t, ourRates.Set(rate))
		must(t, theirRates.Set(rate))
	}
	both(little)
	r.apply(ours.Manifest())
	r.apply(theirs.Manifest())
	first := r.await(deployments, "ours", "settled", resource.settled)
	r.await(deployments, "theirs", "settled", resource.settled)
	uid := r.clusterUID("ours")

	in := install(t)
	in.start("ours", core.KubernetesTarget{Namespace: r.namespace, Kind: core.KindFlinkDeployment, Name: "ours"}, managed.Quick(nil))
	in.await("ours", "a quiet start", managed.Settled)
	began := time.Now()
	list := r.record("theirs", began)

	both(much)
	up := in.await("ours", "more than four subtasks for 3,500 records/s", func(s workflows.Status) bool { return managed.Size(s, testjob.SlowName) > 4 && s.Rescale == nil })
	t.Attr("from_load_to_running", fmt.Sprintf("%.1f s (at %d)", time.Since(began).Seconds(), managed.Size(up, testjob.SlowName)))
	in.await("ours", "the lag to drain", func(s workflows.Status) bool { return s.Lag.Or(1e9) < much && managed.Settled(s) })
	running := r.awaitJob(ours.URL(), first.Status.JobStatus.JobID, "running", func(j job) bool { return j.State == "RUNNING" })
	slow := running.vertex(t, "slow")
	r.await(deployments, "ours", "carried out with our key", func(c resource) bool {
		written, _ := c.reconciled().Spec.Config[overrides].(string)
		return c.settled() && strings.Contains(written, fmt.Sprintf("%s:%d", slow, managed.Size(up, testjob.SlowName)))
	})
	if r.clusterUID("ours") != uid {
		t.Error("the job was not changed in place: there is a new JobManager")
	}
	r.awaitEvent("ours", "ScalingReport")

	both(little)
	in.await("ours", "a smaller size for 500 records/s", func(s workflows.Status) bool { return managed.Size(s, testjob.SlowName) <= 2 && s.Rescale == nil })
	r.awaitTheirs(list)

	history := in.history("ours")
	for _, o := range history.Rescales {
		if o.Kind != core.Applied {
			t.Errorf("outcome %+v", o)
		}
	}
	t.Log("\n" + sideBySide(ourDecisions(history, slow, began), list.lines(slow)))
}

// operatorsAutoscaler has the real operator scale a job with short windows, as ours
// is scaled.
func operatorsAutoscaler() map[string]any {
	return map[string]any{
		"kubernetes.operator.job.autoscaler.enabled": "true",
		"job.autoscaler.scaling.enabled":             "true",
		"job.autoscaler.stabilization.interval":      "5 s",
		"job.autoscaler.metrics.window":              "20 s",
		"job.autoscaler.target.utilization":          "0.7",
		"job.autoscaler.target.utilization.boundary": "0.2",
		"job.autoscaler.catch-up.duration":           "60 s",
		"job.autoscaler.restart.time":                "5 s",
		"job.autoscaler.scale-up.grace-period":       "1 s",
		"job.autoscaler.scale-down.interval":         "0 s",
		"job.autoscaler.vertex.max-parallelism":      "8",
	}
}

// line is a change of size in words, with when it was seen.
type line struct {
	after time.Duration
	text  string
}

// ourDecisions are those of our workflow that were carried out.
func ourDecisions(h workflows.History, vertex string, began time.Time) []line {
	var out []line
	for _, o := range h.Rescales {
		from, _ := core.FindSize(o.From, vertex)
		to, _ := core.FindSize(o.Got, vertex)
		out = append(out, line{o.StartedAt.Sub(began), fmt.Sprintf("%d -> %d %s", from, to, o.Cause)})
	}
	return out
}

// recording watches what an operator's autoscaler has in force.
type recording struct {
	mu   sync.Mutex
	seen []line
	maps []map[string]string
}

// record follows the map of sizes that the operator has carried out for a
// deployment, until the test ends.
func (r *rig) record(name string, began time.Time) *recording {
	rec := &recording{}
	ctx := r.t.Context()
	var done sync.WaitGroup
	r.t.Cleanup(done.Wait)
	done.Go(func() {
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			object, err := r.resources(deployments).Get(ctx, name, meta.GetOptions{})
			if err != nil {
				continue // the next look tells
			}
			rec.add(time.Since(began), parse(lastMap(object.Object)))
		}
	})
	return rec
}

func (r *recording) add(after time.Duration, sizes map[string]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(sizes) == 0 || len(r.maps) > 0 && maps.Equal(r.maps[len(r.maps)-1], sizes) {
		return
	}
	r.maps = append(r.maps, sizes)
	r.seen = append(r.seen, line{after: after})
}

func (r *recording) changes() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.maps)
}

// lines tell how the size of a vertex went.
func (r *recording) lines(vertex string) []line {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []line
	before := "1"
	for i, m := range r.maps {
		if m[vertex] != "" && m[vertex] != before {
			out = append(out, line{r.seen[i].after, before + " -> " + m[vertex]})
			before = m[vertex]
		}
	}
	return out
}

// sideBySide prints two lists as columns.
func sideBySide(ours, theirs []line) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintf(w, "flinkscaler\tthe operator's autoscaler\n")
	cell := func(l []line, i int) string {
		if i >= len(l) {
			return ""
		}
		return fmt.Sprintf("%4.0f s  %s", l[i].after.Seconds(), l[i].text)
	}
	for i := range max(len(ours), len(theirs)) {
		fmt.Fprintf(w, "%s\t%s\n", cell(ours, i), cell(theirs, i))
	}
	_ = w.Flush()
	return b.String()
}

// parse reads a map of overrides; nil for what is none.
func parse(text string) map[string]string {
	out := map[string]string{}
	for _, pair := range slices.DeleteFunc(strings.Split(text, ","), func(s string) bool { return s == "" }) {
		id, n, _ := strings.Cut(pair, ":")
		out[id] = n
	}
	return out
}

// lastMap is the map of sizes in what the operator has carried out last.
func lastMap(object map[string]any) string {
	var found resource
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, &found); err != nil {
		return ""
	}
	text, _ := found.reconciled().Spec.Config[overrides].(string)
	return text
}

// awaitEvent waits for an Event of ours on an object.
func (r *rig) awaitEvent(name, reason string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	must(r.t, child.WaitFor(ctx, "an Event "+reason+" on "+name, func(ctx context.Context) (string, bool, error) {
		list, err := r.plane.Clientset().EventsV1().Events(r.namespace).List(ctx, meta.ListOptions{})
		if err != nil {
			return err.Error(), false, nil
		}
		seen := ""
		for _, e := range list.Items {
			if e.Regarding.Name == name && e.ReportingController == "flinkscaler" {
				seen += e.Reason + " "
				if e.Reason == reason {
					r.t.Logf("Event on %s %s: %s: %s", e.Regarding.Kind, e.Regarding.Name, e.Reason, e.Note)
					return "", true, nil
				}
			}
		}
		return "those of ours are: " + seen, false, nil
	}))
}

// awaitTheirs waits until the operator's own autoscaler has decided something.
func (r *rig) awaitTheirs(list *recording) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	must(r.t, child.WaitFor(ctx, "a decision of the operator's autoscaler", func(context.Context) (string, bool, error) {
		return "none yet", list.changes() > 0, nil
	}))
}
