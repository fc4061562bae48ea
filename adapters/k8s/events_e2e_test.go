//go:build e2e

package k8s_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"flinkscaler/activities/porttest"
	"flinkscaler/adapters/k8s"
	"flinkscaler/core"
	"flinkscaler/internal/kubelocal/kubetest"
)

const job = `
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {name: orders}
spec: {flinkVersion: v1_18, job: {jarURI: x}}
`

var flinkDeployments = schema.GroupVersionResource{Group: "flink.apache.org", Version: "v1beta1", Resource: "flinkdeployments"}

// desk is where events are sent from, and looked for.
type desk struct {
	*k8s.Cluster
	namespace string
	target    core.Target
}

func newDesk(t *testing.T) desk {
	t.Helper()
	namespace := kubetest.Namespace(t)
	if err := kubetest.Plane(t).Apply(t.Context(), namespace, job); err != nil {
		t.Fatal(err)
	}
	c, err := k8s.New(k8s.Config{REST: kubetest.Plane(t).Config()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return desk{c, namespace, core.Target{Kubernetes: &core.KubernetesTarget{Namespace: namespace, Kind: core.KindFlinkDeployment, Name: "orders"}}}
}

// all reads the events as kubectl get events does, in the order in which they
// were written.
func (d desk) all(t *testing.T) []corev1.Event {
	t.Helper()
	got, err := kubetest.Plane(t).Clientset().CoreV1().Events(d.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	version := func(e corev1.Event) int {
		n, err := strconv.Atoi(e.ResourceVersion)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	slices.SortFunc(got.Items, func(a, b corev1.Event) int { return cmp.Compare(version(a), version(b)) })
	return got.Items
}

func (d desk) send(t *testing.T, events ...core.Event) {
	t.Helper()
	if err := d.Send(t.Context(), core.JobKey{Cluster: "prod", Job: "orders"}, d.target, events); err != nil {
		t.Fatal(err)
	}
}

func TestEventsConformance(t *testing.T) {
	d := newDesk(t)
	porttest.RunSink(t, porttest.SinkHarness{
		Sink: d, Target: d.target,
		Shown: func(t *testing.T, key core.JobKey) []porttest.Shown {
			t.Helper()
			var out []porttest.Shown
			for _, e := range d.all(t) {
				if e.Annotations[k8s.AnnotationJob] == key.String() {
					out = append(out, porttest.Shown{Reason: e.Reason, Message: e.Message, DecisionID: e.Annotations[k8s.AnnotationDecision], Warning: e.Type == corev1.EventTypeWarning})
				}
			}
			return out
		},
		Break: func(t *testing.T) func() {
			t.Helper()
			plane := kubetest.Plane(t)
			if err := plane.APIServer().Kill(); err != nil {
				t.Fatal(err)
			}
			return func() {
				if err := plane.APIServer().Launch(); err != nil {
					t.Fatal(err)
				}
				if err := plane.WaitReady(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
		},
	})
}

// TestEventOnTheResource: it is found where people look for it.
func TestEventOnTheResource(t *testing.T) {
	d := newDesk(t)
	at := time.Now().Truncate(time.Second)
	d.send(t, core.Event{
		Kind: core.EventRecommended, Reason: "Configuration recommendation", Key: "k", Message: strings.Repeat("ü", 600), DecisionID: "7-1", At: at, Warning: true,
	})
	found := d.all(t)
	if len(found) != 1 {
		t.Fatalf("%d events", len(found))
	}
	e := found[0]
	uid := d.uid(t)
	if o := e.InvolvedObject; o.Kind != "FlinkDeployment" || o.Name != "orders" || string(o.UID) != uid || o.APIVersion != "flink.apache.org/v1beta1" || uid == "" {
		t.Errorf("it is about %+v, want the FlinkDeployment with uid %s", o, uid)
	}
	if e.ReportingController != "flinkscaler" || e.Type != "Warning" || e.Reason != "Configuration recommendation" || !e.EventTime.Time.Equal(at) {
		t.Errorf("got %+v", e)
	}
	if len(e.Message) > 1024 || !strings.HasSuffix(e.Message, "üü...") || strings.ContainsRune(e.Message, '�') {
		t.Errorf("the text has %d bytes and ends in %q", len(e.Message), e.Message[len(e.Message)-8:])
	}
}

func (d desk) uid(t *testing.T) string {
	t.Helper()
	o, err := kubetest.Plane(t).Dynamic().Resource(flinkDeployments).Namespace(d.namespace).Get(t.Context(), "orders", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return string(o.GetUID())
}

// TestEventsToldAgain: what holds for hours is one event with a count and the
// newest text, however its numbers change; what is new is a new one.
func TestEventsToldAgain(t *testing.T) {
	d := newDesk(t)
	begin := time.Now().Add(-2 * time.Hour)
	say := func(decision int, repeated bool) core.Event {
		return core.Event{
			Kind: core.EventError, Reason: "AutoscalerError", Key: "AutoscalerError/no-slots", Message: fmt.Sprint("needs ", decision, " slots"),
			DecisionID: fmt.Sprint(decision), At: begin.Add(time.Duration(decision) * time.Minute), Repeated: repeated,
		}
	}
	check := func(when string, want ...string) {
		t.Helper()
		var got []string
		for _, e := range d.all(t) {
			count := 1
			if e.Series != nil {
				count = int(e.Series.Count)
			}
			got = append(got, fmt.Sprintf("%d x %s", count, e.Message))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	d.send(t, say(1, true))
	check("told before, and forgotten by the API server", "1 x needs 1 slots")
	d.send(t, say(31, true))
	d.send(t, say(61, true))
	check("told again", "3 x needs 61 slots")
	d.send(t, say(61, true))
	check("sent again after a lost answer", "3 x needs 61 slots")
	d.send(t, say(31, true))
	check("an old one comes late", "3 x needs 61 slots")
	d.send(t, say(62, false))
	check("news", "3 x needs 61 slots", "1 x needs 62 slots")
	d.send(t, say(92, true))
	check("the news again", "3 x needs 61 slots", "2 x needs 92 slots")
	if e := d.all(t)[1]; e.Series == nil || !e.Series.LastObservedTime.Time.Equal(say(92, true).At.Truncate(time.Microsecond)) {
		t.Errorf("last observed at %+v", e.Series)
	}
}

// TestEventsOfWhatIsGone: a deleted resource can still be told of, and one that
// was created anew has a story of its own.
func TestEventsOfWhatIsGone(t *testing.T) {
	d := newDesk(t)
	e := core.Event{Kind: core.EventError, Reason: "AutoscalerError", Key: "k", Message: "m", DecisionID: "7-1", At: time.Now()}
	d.send(t, e)
	resource := kubetest.Plane(t).Dynamic().Resource(flinkDeployments).Namespace(d.namespace)
	if err := resource.Delete(t.Context(), "orders", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.DecisionID, e.Repeated = "8-1", true
	d.send(t, e)
	found := d.all(t)
	if len(found) != 2 || found[1].InvolvedObject.UID != "" || found[1].InvolvedObject.Name != "orders" {
		t.Errorf("got %+v, want a second event, about no uid", found)
	}
}
