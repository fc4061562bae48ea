//go:build e2e

package k8s

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"flinkscaler/adapters/flink"
	"flinkscaler/core"
	"flinkscaler/internal/flinksim"
	"flinkscaler/internal/kubelocal/kubetest"
)

// many is how many jobs one worker looks at in one cycle, and cycle how many seconds
// that may take.
const (
	many  = 400
	cycle = 60
)

// TestManyJobsInOneCycle looks at each job as a cycle does: it is found, read, and
// what is wanted of it is read. Each costs the API server two requests, and all of
// them fit into a cycle at the limits that are the default.
func TestManyJobsInOneCycle(t *testing.T) {
	sim := flinksim.New(flinksim.Options{FetchInterval: 200 * time.Millisecond, FetchTime: time.Millisecond})
	address, err := sim.Start()
	must(t, err)
	t.Cleanup(sim.Close)
	_, err = sim.Submit(flinksim.JobSpec{Name: "orders"})
	must(t, err)

	namespace := kubetest.Namespace(t)
	manifests := make([]string, 0, many)
	for i := range many {
		manifests = append(manifests, fmt.Sprintf(`{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, metadata: {name: job-%d}, spec: {flinkVersion: v1_20, image: flink, serviceAccount: flink, job: {upgradeMode: savepoint, parallelism: 1}, flinkConfiguration: {job.autoscaler.metrics.window: "%d min"}}}`, i, 1+i))
	}
	must(t, kubetest.Plane(t).Apply(t.Context(), namespace, manifests...))
	counted := &between{}
	config := rest.CopyConfig(kubetest.Plane(t).Config())
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { counted.next = next; return counted })
	c := clusterAs(t, Config{REST: config, Flink: flink.Config{Timeout: time.Minute}, Address: func(string, string, int) string { return strings.TrimPrefix(address, "http://") }})

	began := time.Now()
	problems := make([]error, many)
	var jobs sync.WaitGroup
	for i := range many {
		jobs.Go(func() { problems[i] = lookAt(t, c, namespace, i) })
	}
	jobs.Wait()
	took := time.Since(began)
	if err := errors.Join(problems...); err != nil {
		t.Fatal(err)
	}
	n := counted.all.Load()
	t.Attr("a_cycle", fmt.Sprintf("%d jobs, %d requests, %s", many, n, took))
	if n != 2*many || n > cycle*DefaultQPS {
		t.Errorf("%d requests to the API server for %d jobs, want two for each and %d at most", n, many, cycle*DefaultQPS)
	}
}

// lookAt is what a cycle does, and checks that the policy is that of this object.
func lookAt(t *testing.T, c *Cluster, namespace string, i int) error {
	t.Helper()
	target := core.KubernetesTarget{Namespace: namespace, Kind: core.KindFlinkDeployment, Name: fmt.Sprintf("job-%d", i)}
	ref, err := c.Locate(t.Context(), core.Target{Kubernetes: &target})
	if err != nil {
		return err
	}
	m, err := c.Measure(t.Context(), ref, func(core.Vertex, []string) []string { return nil })
	if err != nil {
		return err
	}
	if got, want := m.Config["job.autoscaler.metrics.window"], fmt.Sprintf("%d min", 1+i); got != want {
		return fmt.Errorf("%s has the policy of another: %q, want %q", target.Name, got, want)
	}
	_, err = c.Wanted(t.Context(), ref)
	return err
}
