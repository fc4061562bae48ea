//go:build e2e

package k8s

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"flinkscaler/core"
	"flinkscaler/e2e/managed"
	"flinkscaler/e2e/testjob"
	"flinkscaler/internal/kubelocal/kubetest"
	"flinkscaler/workflows"
)

// TestWhatBefallsAJob takes one job of the real operator, with Kubernetes HA,
// through what the operator, Flink and people do to it. The operator is killed for a
// while, so nothing else runs beside it.
func TestWhatBefallsAJob(t *testing.T) {
	r := newRig(t)
	d, rates := kubetest.Application(t, "orders")
	must(t, rates.Set(little))
	d.HA, d.Job.UpgradeMode = true, "last-state"
	r.apply(d.Manifest())
	first := r.await(deployments, "orders", "settled", resource.settled)
	in := install(t)
	policy := managed.Quick(nil)
	policy["job.autoscaler.rescale.verify-timeout"] = "45 s"
	policy["job.autoscaler.vertex.max-parallelism"] = "12"
	in.start("orders", core.KubernetesTarget{Namespace: r.namespace, Kind: core.KindFlinkDeployment, Name: "orders"}, policy)
	in.await("orders", "a quiet start", managed.Settled)
	c := course{t: t, r: r, installation: in, url: d.URL(), id: first.Status.JobStatus.JobID}
	c.slow = r.awaitJob(c.url, c.id, "running", func(j job) bool { return j.State == "RUNNING" && len(j.Vertices) > 0 }).vertex(t, testjob.SlowName)

	for _, step := range []struct {
		name string
		run  func()
	}{
		{"an order is carried out in place", c.ordered},
		{"another hand at Flink is named, and its size taken over when asked", c.foreign},
		{"more than the slots allow is partial, and the next order is carried out all the same", c.short},
		{"a JobManager that died comes back, and nothing is written", c.died},
		{"a stopped operator carries nothing out: what was written is taken back", c.stopped},
		{"the operator's own autoscaler is a rival while it is on", c.rival},
	} {
		if !t.Run(step.name, func(t *testing.T) { c.now(t); step.run() }) {
			return // the job is not where the next step expects it
		}
	}
}

// course is the job on its way.
type course struct {
	*installation
	t             *testing.T
	r             *rig
	url, id, slow string
}

// now has failures told as those of a step.
func (c *course) now(t *testing.T) {
	r, in := *c.r, *c.installation
	r.t, in.t = t, t
	c.t, c.r, c.installation = t, &r, &in
}

// signal sends a message with tctl.
func (c *course) signal(name, input string) {
	c.t.Helper()
	args := []string{"workflow", "signal", "--wid", "flink/" + cluster + "/orders", "--name", name}
	if input != "" {
		args = append(args, "--input", input)
	}
	cmd := exec.CommandContext(c.t.Context(), c.tctl, args...)
	cmd.Env = append(os.Environ(), c.Env()...)
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("tctl: %v\n%s", err, out)
	}
}

// override orders a size, and gives what came of it.
func (c *course) override(size int) core.Outcome {
	c.t.Helper()
	before := len(c.history("orders").Rescales)
	c.signal("override", fmt.Sprintf(`{"vertices": {%q: %d}, "for": "10 min"}`, c.slow, size))
	c.await("orders", fmt.Sprintf("an outcome of the order for %d", size), func(workflows.Status) bool { return len(c.history("orders").Rescales) > before })
	all := c.history("orders").Rescales
	return all[len(all)-1]
}

func (c *course) want(o core.Outcome, k core.OutcomeKind, reason core.Reason, size int) {
	c.t.Helper()
	got, _ := core.FindSize(o.Got, c.slow)
	if o.Kind != k || reason != "" && o.Reason != reason || got != size {
		c.t.Fatalf("%s (%s) at %d, want %s (%s) at %d: %s", o.Kind, o.Reason, got, k, reason, size, o.Note)
	}
	c.t.Logf("%s (%s) at %d: %s", o.Kind, o.Reason, got, o.Note)
}

func (c *course) ordered() { c.want(c.override(3), core.Applied, "", 3) }

func (c *course) foreign() {
	requirements := map[string]any{}
	must(c.t, get(c.t.Context(), c.url+"/jobs/"+c.id+"/resource-requirements", &requirements))
	requirements[c.slow] = map[string]any{"parallelism": map[string]int{"lowerBound": 1, "upperBound": 5}}
	body, err := json.Marshal(requirements)
	must(c.t, err)
	put, err := http.NewRequestWithContext(c.t.Context(), http.MethodPut, c.url+"/jobs/"+c.id+"/resource-requirements", bytes.NewReader(body))
	must(c.t, err)
	put.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(put)
	must(c.t, err)
	must(c.t, answer.Body.Close())
	s := c.await("orders", "the other hand to be named", func(s workflows.Status) bool { return s.Reason == core.ReasonForeignWriter })
	c.t.Log(s.Note)
	c.want(c.override(3), core.Applied, "", 3)
}

func (c *course) short() {
	c.want(c.override(12), core.Partial, core.ReasonNoSlots, 8)
	c.want(c.override(3), core.Applied, "", 3)
}

func (c *course) died() {
	before := len(c.history("orders").Rescales)
	pod, err := kubetest.Kubelet(c.t).JobManager(c.t.Context(), c.r.namespace, "orders")
	must(c.t, err)
	must(c.t, pod.Process().Kill())
	c.await("orders", "the loss to be seen", func(s workflows.Status) bool { return !managed.Settled(s) && s.Reason != core.ReasonOverride })
	c.r.awaitJob(c.url, c.id, "at 3 again", func(j job) bool { return j.runs(c.slow, 3) })
	c.r.await(deployments, "orders", "settled again", resource.settled)
	c.await("orders", "the job to be managed as before", func(s workflows.Status) bool {
		return s.Reason == core.ReasonOverride && managed.Size(s, testjob.SlowName) == 3
	})
	if n := len(c.history("orders").Rescales); n != before {
		c.t.Errorf("%d rescales, there were %d", n, before)
	}
}

func (c *course) stopped() {
	operator := kubetest.Operator(c.t)
	must(c.t, operator.Process().Kill())
	o := c.override(5)
	c.want(o, core.Undone, core.ReasonNotCarried, 3)
	object, err := c.r.resources(deployments).Get(c.t.Context(), "orders", meta.GetOptions{})
	must(c.t, err)
	if text := fmt.Sprint(object.Object["spec"]); !strings.Contains(text, c.slow+":3") {
		c.t.Errorf("the key was not taken back: %s", text)
	}
	// Pinned where it is: else the strategy has its say as soon as the operator works.
	c.signal("override", fmt.Sprintf(`{"vertices": {%q: 3}, "for": "10 min"}`, c.slow))
	must(c.t, operator.Process().Launch())
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	must(c.t, operator.WaitHealthy(ctx))
	c.r.await(deployments, "orders", "settled under an operator that works again", func(r resource) bool {
		return r.settled() && r.reconciled().Spec.Config[overrides] != nil
	})
	c.r.awaitJob(c.url, c.id, "at 3 as before", func(j job) bool { return j.runs(c.slow, 3) })
}

func (c *course) rival() {
	const key = "kubernetes.operator.job.autoscaler.enabled"
	set := func(value string) {
		c.t.Helper()
		patch := fmt.Sprintf(`{"spec":{"flinkConfiguration":{%q:%q}}}`, key, value)
		_, err := c.r.resources(deployments).Patch(c.t.Context(), "orders", types.MergePatchType, []byte(patch), meta.PatchOptions{FieldManager: "kubectl-edit"})
		must(c.t, err)
	}
	rescales := len(c.history("orders").Rescales)
	set("true")
	s := c.await("orders", "the rival to be named", func(s workflows.Status) bool { return s.Reason == core.ReasonRival })
	c.t.Log(s.Note)
	c.signal("override", `{"parallelism": 4, "for": "10 min"}`)
	cycle := s.Cycle
	c.await("orders", "two more looks", func(s workflows.Status) bool { return s.Cycle > cycle+2 })
	if n := len(c.history("orders").Rescales); n != rescales {
		c.t.Errorf("something was written beside a rival: %d rescales, there were %d", n, rescales)
	}
	c.signal("clear-override", "")
	set("false")
	c.await("orders", "the job to be ours again", managed.Settled)
}
