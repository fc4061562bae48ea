//go:build e2e

package k8s

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"flinkscaler/core"
	"flinkscaler/internal/flinksim"
	"flinkscaler/internal/kubelocal"
	"flinkscaler/internal/kubelocal/kubetest"
)

// simulatedFlink runs these jobs; it gives its host:port and their ids.
func simulatedFlink(t *testing.T, jobs ...string) (address string, ids []string) {
	t.Helper()
	f := flinksim.New(flinksim.Options{Slots: 40, CacheTime: -1})
	t.Cleanup(f.Close)
	url, err := f.Start()
	must(t, err)
	for _, name := range jobs {
		ids = append(ids, f.AddJob(flinksim.JobSpec{Name: name}))
	}
	return strings.TrimPrefix(url, "http://"), ids
}

// nowhere is an address at which nothing listens.
const nowhere = "127.0.0.1:1"

// discoverer is the adapter, with the address of each Flink by its Service.
func discoverer(t *testing.T, config *rest.Config, flinks map[string]string) *Cluster {
	t.Helper()
	return clusterAs(t, Config{REST: config, Address: func(_, service string, _ int) string {
		if a, ok := flinks[service]; ok {
			return a
		}
		return nowhere
	}})
}

func application(name, edit string) string {
	return `{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, metadata: {name: ` + name + `}, spec: {image: "flink:1.20", flinkVersion: v1_20, serviceAccount: flink, ` +
		`job: {jarURI: "local:///job.jar", parallelism: 1, upgradeMode: savepoint, state: running}` + edit + `}}`
}

func TestDiscover(t *testing.T) {
	one, _ := simulatedFlink(t, "any")
	many, ids := simulatedFlink(t, "ours", "theirs", "twin", "twin")
	b := newBench(t, application("orders", ""), application("silent", ""),
		application("stateless", `, flinkConfiguration: {job.autoscaler.enabled: "true"}`),
		`{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, metadata: {name: session}, spec: {image: "flink:1.20", flinkVersion: v1_20, serviceAccount: flink}}`,
		`{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, metadata: {name: down}, spec: {image: "flink:1.20", flinkVersion: v1_20, serviceAccount: flink}}`,
		`{apiVersion: flink.apache.org/v1beta1, kind: FlinkSessionJob, metadata: {name: orders}, spec: {deploymentName: session, job: {jarURI: "local:///job.jar", parallelism: 1, upgradeMode: savepoint}}}`)
	b.write(t, "t", types.MergePatchType, flinkDeployment{}.resource(), "stateless", `{"spec":{"job":{"upgradeMode":"stateless"}}}`)
	b.write(t, "t", types.MergePatchType, flinkSessionJob{}.resource(), "orders", `{"status":{"jobStatus":{"jobId":"`+ids[1]+`"}}}`, "status")
	c := discoverer(t, kubetest.Plane(t).Config(), map[string]string{"orders-rest": one, "stateless-rest": one, "session-rest": many})

	found, notes, err := c.Discover(t.Context(), []string{b.namespace})
	must(t, err)
	var got []string
	for _, f := range found {
		how := "unknown"
		if f.Means != nil {
			if how = f.Means.Method; f.Means.Refused != "" {
				how = "refused"
			}
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s: %s %s", f.Target.Kind, f.Target.Name, how, f.Target.JobName)))
		if f.Target.Namespace != b.namespace {
			t.Errorf("%v is in another namespace", f.Target)
		}
	}
	want := []string{
		"FlinkDeployment orders: operator-in-place",
		"FlinkDeployment session: flink-in-place ours", "FlinkDeployment session: unknown twin",
		"FlinkDeployment silent: unknown",
		"FlinkDeployment stateless: refused", "FlinkSessionJob orders: operator-in-place",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	said := map[string]string{}
	for _, n := range notes {
		if n.Target != nil {
			said[n.Target.Name+" "+n.Target.JobName] += n.Text + "\n"
		}
	}
	for about, words := range map[string]string{
		"silent ":      "how its size can be changed is not known now",
		"down ":        "it is a session cluster, and which jobs run on it is not known",
		"session twin": "more than one job",
		"stateless ":   "own autoscaler is on",
	} {
		if !strings.Contains(said[about], words) {
			t.Errorf("of %s it says %q; want %q", about, said[about], words)
		}
		delete(said, about)
	}
	if len(said) > 0 {
		t.Errorf("it also says %v", said)
	}
}

// TestDiscoverAnyNumber: more resources than a page of a list has, in two
// namespaces, with the same names in both.
func TestDiscoverAnyNumber(t *testing.T) {
	const each = pageSize + 50
	address, _ := simulatedFlink(t, "any")
	namespaces := []string{kubetest.Namespace(t), kubetest.Namespace(t)}
	for _, n := range namespaces {
		createMany(t, n, each)
	}
	flinks := map[string]string{}
	for i := range each {
		flinks[fmt.Sprintf("job-%d-rest", i)] = address
	}
	c := discoverer(t, kubetest.Plane(t).Config(), flinks)
	for reason, given := range map[string][]string{"those that are named": namespaces, "all": nil} {
		found, _, err := c.Discover(t.Context(), given)
		must(t, err)
		seen := map[core.KubernetesTarget]int{}
		for _, f := range found {
			if strings.HasPrefix(f.Target.Name, "job-") {
				seen[f.Target]++
			}
			if f.Means == nil && flinks[f.Target.Name+"-rest"] != "" {
				t.Errorf("%v was not judged", f.Target)
			}
		}
		if len(seen) != len(namespaces)*each {
			t.Errorf("%s: %d jobs; want %d", reason, len(seen), len(namespaces)*each)
		}
	}
}

func createMany(t *testing.T, namespace string, n int) {
	t.Helper()
	client := kubetest.Plane(t).Dynamic().Resource(flinkDeployment{}.resource()).Namespace(namespace)
	var group sync.WaitGroup
	next := make(chan int)
	for range 8 {
		group.Go(func() {
			for i := range next {
				o := &unstructured.Unstructured{Object: map[string]any{
					"apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment", "metadata": map[string]any{"name": fmt.Sprintf("job-%d", i)},
					"spec": map[string]any{
						"image": "flink:1.20", "flinkVersion": "v1_20", "serviceAccount": "flink",
						"job": map[string]any{"jarURI": "local:///job.jar", "parallelism": int64(1), "upgradeMode": "savepoint", "state": "running"},
					},
				}}
				if _, err := client.Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
}

// TestDiscoverWhatMayBeListed: an account with a Role in one namespace is told to
// name it, and finds what is there.
func TestDiscoverWhatMayBeListed(t *testing.T) {
	b := newBench(t, application("orders", ""))
	config, err := kubetest.Plane(t).ServiceAccount(t.Context(), b.namespace, "worker")
	must(t, err)
	b.as(t, `{apiGroups: [flink.apache.org], resources: [flinkdeployments], verbs: [get, list]}`)
	c := discoverer(t, config, nil)
	await(t, "the Role", func(ctx context.Context) (string, bool, error) {
		_, err := c.list(ctx, flinkDeployment{}.resource(), b.namespace, "")
		return fmt.Sprint(err), err == nil, nil
	})
	if _, _, err := c.Discover(t.Context(), nil); !errors.Is(err, core.ErrUnauthorized) || !strings.Contains(err.Error(), "--namespace") {
		t.Errorf("in all namespaces: %v; want to be told to name some", err)
	}
	if _, _, err := c.Discover(t.Context(), []string{"default"}); !errors.Is(err, core.ErrUnauthorized) || !strings.Contains(err.Error(), "in namespace default") {
		t.Errorf("in a namespace without a Role: %v; want that named", err)
	}
	found, notes, err := c.Discover(t.Context(), []string{b.namespace, "default"})
	if err != nil || len(found) != 1 || found[0].Target.Name != "orders" {
		t.Fatalf("found %v, %v", found, err)
	}
	var texts []string
	for _, n := range notes {
		if n.Target == nil {
			texts = append(texts, n.Text)
		}
	}
	for _, want := range []string{"flinksessionjobs.flink.apache.org in namespace " + b.namespace, "flinkdeployments.flink.apache.org in namespace default"} {
		if !strings.Contains(strings.Join(texts, "\n"), want) {
			t.Errorf("it says %q; want %q", texts, want)
		}
	}
}

// TestDiscoverWithoutOperators: a cluster that knows none of the kinds has none of
// their objects.
func TestDiscoverWithoutOperators(t *testing.T) {
	plane, err := kubelocal.Start(t.Context(), kubelocal.Options{Dir: t.TempDir()})
	must(t, err)
	t.Cleanup(func() { must(t, plane.Close()) })
	for who, config := range map[string]*rest.Config{"an administrator": plane.Config(), "somebody": plane.As("ann")} {
		found, notes, err := discoverer(t, config, nil).Discover(t.Context(), nil)
		if err != nil || len(found)+len(notes) > 0 {
			t.Errorf("%s: %v, %v, %v; want nothing, and no error", who, found, notes, err)
		}
	}
	if _, _, err := discoverer(t, &rest.Config{Host: "https://" + nowhere}, nil).Discover(t.Context(), nil); !errors.Is(err, core.ErrUnreachable) {
		t.Errorf("a cluster that does not answer: %v", err)
	}
}
