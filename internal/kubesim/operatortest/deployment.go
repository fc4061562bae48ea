package operatortest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// deployment is a FlinkDeployment under test.
type deployment struct {
	t    *testing.T
	rig  Rig
	api  dynamic.Interface
	name string
	url  string
	ids  *strings.Replacer // of S and W
	// source and work are the ids of the two vertices.
	source, work string
}

// status as far as cases look at it.
type status struct {
	Lifecycle          string `json:"lifecycleState"`
	JobManager         string `json:"jobManagerDeploymentStatus"`
	ObservedGeneration int64  `json:"observedGeneration"`
	Job                struct {
		ID    string `json:"jobId"`
		State string `json:"state"`
	} `json:"jobStatus"`
	Reconciliation struct {
		State string `json:"state"`
		Last  string `json:"lastReconciledSpec"`
	} `json:"reconciliationStatus"`
}

// custom is a FlinkDeployment as one read gave it.
type custom struct {
	generation int64
	overrides  string
	status     status
}

// settled is true when the present spec was carried out, as each release says
// it, and the job runs.
func (c custom) settled() bool {
	var last struct {
		Spec struct {
			Config map[string]any `json:"flinkConfiguration"`
		} `json:"spec"`
		Resource struct {
			Metadata struct {
				Generation int64 `json:"generation"`
			} `json:"metadata"`
		} `json:"resource_metadata"`
	}
	if json.Unmarshal([]byte(c.status.Reconciliation.Last), &last) != nil {
		return false
	}
	seen := max(c.status.ObservedGeneration, last.Resource.Metadata.Generation)
	value, _ := last.Spec.Config[overrides].(string)
	return seen == c.generation && value == c.overrides && c.status.Lifecycle == "STABLE" && c.status.Job.State == "RUNNING"
}

// start makes a FlinkDeployment and waits until its job runs.
func start(t *testing.T, rig Rig, called string) *deployment {
	t.Helper()
	api, err := dynamic.NewForConfig(rig.Config)
	if err != nil {
		t.Fatal(err)
	}
	d := &deployment{t: t, rig: rig, api: api, name: called, url: rig.Deployment(t, called), ids: strings.NewReplacer()}
	d.settle()
	d.await("the vertices of the job", func() bool { return d.findVertices() == nil })
	d.ids = strings.NewReplacer("S:", d.source+":", "W:", d.work+":")
	return d
}

func (d *deployment) resources(group, resource string) dynamic.ResourceInterface {
	version := map[string]string{"flink.apache.org": "v1beta1"}[group]
	if version == "" {
		version = "v1"
	}
	return d.api.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: resource}).Namespace(d.rig.Namespace)
}

func (d *deployment) customs() dynamic.ResourceInterface {
	return d.resources("flink.apache.org", "flinkdeployments")
}

func (d *deployment) read() custom {
	d.t.Helper()
	o, err := d.customs().Get(d.t.Context(), d.name, metav1.GetOptions{})
	if err != nil {
		d.t.Fatal(err)
	}
	c := custom{generation: o.GetGeneration()}
	config, _, _ := unstructured.NestedMap(o.Object, "spec", "flinkConfiguration")
	c.overrides, _ = config[overrides].(string)
	shown, _, _ := unstructured.NestedMap(o.Object, "status")
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(shown, &c.status); err != nil {
		d.t.Fatal(err)
	}
	return c
}

// write applies keys of the configuration as a field manager of its own.
func (d *deployment) write(keys map[string]string) {
	d.t.Helper()
	config := map[string]any{}
	for k, v := range keys {
		config[k] = d.ids.Replace(v)
	}
	body, err := json.Marshal(map[string]any{"spec": map[string]any{"flinkConfiguration": config}})
	if err != nil {
		d.t.Fatal(err)
	}
	const merge = "application/merge-patch+json"
	if _, err := d.customs().Patch(d.t.Context(), d.name, merge, body, metav1.PatchOptions{FieldManager: "operatortest"}); err != nil {
		d.t.Fatal(err)
	}
}

func (d *deployment) settle() {
	d.t.Helper()
	d.await("settled", func() bool { return d.read().settled() })
}

// delete removes the FlinkDeployment and waits until it and its JobManager are
// gone.
func (d *deployment) delete() {
	d.t.Helper()
	if err := d.customs().Delete(d.t.Context(), d.name, metav1.DeleteOptions{}); err != nil {
		d.t.Fatal(err)
	}
	d.await("gone", func() bool {
		_, err := d.customs().Get(d.t.Context(), d.name, metav1.GetOptions{})
		return apierrors.IsNotFound(err) && d.managerUID() == ""
	})
}

// managerUID tells one JobManager's Deployment from the next, "" for none.
func (d *deployment) managerUID() string {
	o, err := d.resources("apps", "deployments").Get(d.t.Context(), d.name, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	return string(o.GetUID())
}

// seen is what a write may or may not move.
type seen struct {
	job, managerUID string
	events          map[string]int64 // how often, by reason
}

func (d *deployment) look() seen {
	d.t.Helper()
	s := seen{job: d.read().status.Job.ID, managerUID: d.managerUID(), events: map[string]int64{}}
	for _, e := range d.events() {
		reason, _ := e.Object["reason"].(string)
		count, _, _ := unstructured.NestedInt64(e.Object, "count")
		s.events[reason] += count
	}
	// When it looks at the job on its way is the operator's own affair.
	maps.DeleteFunc(s.events, func(reason string, _ int64) bool {
		return reason != "SpecChanged" && reason != "Scaling" && reason != "Suspended" && reason != "Submit"
	})
	return s
}

// events on this FlinkDeployment.
func (d *deployment) events() []unstructured.Unstructured {
	d.t.Helper()
	all, err := d.resources("", "events").List(d.t.Context(), metav1.ListOptions{})
	if err != nil {
		d.t.Fatal(err)
	}
	var out []unstructured.Unstructured
	for _, e := range all.Items {
		about, _, _ := unstructured.NestedString(e.Object, "involvedObject", "name")
		kind, _, _ := unstructured.NestedString(e.Object, "involvedObject", "kind")
		if about == d.name && kind == "FlinkDeployment" {
			out = append(out, e)
		}
	}
	return out
}

// messages of all Events.
func (d *deployment) messages() string {
	var b strings.Builder
	for _, e := range d.events() {
		fmt.Fprintln(&b, e.Object["message"])
	}
	return b.String()
}

// await waits for a condition, and shows everything when it never comes.
func (d *deployment) await(what string, done func() bool) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), d.rig.Patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			jobs, err := d.jobs()
			d.t.Fatalf("%s was never %s: %+v\nFlink: %v %v\nEvents: %s", d.name, what, d.read(), jobs, err, d.messages())
		}
	}
}
