//go:build e2e

package kubesim

import (
	"fmt"
	"os"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"flinkscaler/internal/child"
	"flinkscaler/internal/flinksim"
	"flinkscaler/internal/kubelocal/kubetest"
)

func TestMain(m *testing.M) { os.Exit(kubetest.Main(m, FlinkClusterCRD)) }

// patience is how long a test waits for anything: the machine may be busy.
const patience = 2 * time.Minute

// The vertices of the test job, with the ids of the recordings.
const (
	source6 = "6bf01baa9d2ca23a3ef7ce311722523d"
	work5   = "59fa767824610e31f4a11d6125e09bf4"
)

func recordedJob(p Program) flinksim.JobSpec {
	s := DefaultJob(p)
	s.Vertices[0].ID, s.Vertices[1].ID = source6, work5
	return s
}

// nimble is a simulated Flink without the waits that matter to nobody here.
func nimble() flinksim.Options {
	return flinksim.Options{
		Cooldown: -1, Stabilization: 500 * time.Millisecond, Downtime: 50 * time.Millisecond, Deploy: -1,
		CacheTime: -1, SavepointTime: 200 * time.Millisecond,
	}
}

// kubeletFor serves a namespace of the shared plane.
func kubeletFor(t *testing.T, namespace string, o KubeletOptions) *Kubelet {
	t.Helper()
	o.Namespaces, o.Controllers, o.Log = []string{namespace}, true, t.Logf
	if o.Job == nil {
		o.Job = recordedJob
	}
	k, err := StartKubelet(t.Context(), kubetest.Plane(t).Config(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Stop)
	return k
}

func operatorFor(t *testing.T, namespace string, o Options) *Operator {
	t.Helper()
	return operatorAt(t, kubetest.Plane(t).Config(), namespace, o)
}

func operatorAt(t *testing.T, config *rest.Config, namespace string, o Options) *Operator {
	t.Helper()
	o.Namespaces, o.Log = []string{namespace}, t.Logf
	if o.ReconcileEvery == 0 {
		o.ReconcileEvery, o.ProgressEvery, o.RestDelay = time.Second, 500*time.Millisecond, 200*time.Millisecond
	}
	op, err := StartOperator(t.Context(), config, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(op.Stop)
	return op
}

func port(t *testing.T) int {
	t.Helper()
	ports, err := child.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	return ports[0]
}

// manifest is a FlinkDeployment as the recordings have it.
func manifest(t *testing.T, called string, port int) string {
	return fmt.Sprintf(`
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {name: %s}
spec:
  image: flink:1.20
  flinkVersion: v1_20
  serviceAccount: flink
  flinkConfiguration:
    rest.port: "%d"
    jobmanager.scheduler: adaptive
    taskmanager.numberOfTaskSlots: "8"
    state.savepoints.dir: file://%s
  jobManager: {resource: {memory: 1024m, cpu: 0.5}}
  taskManager: {resource: {memory: 1024m, cpu: 0.5}}
  job: {jarURI: "local:///opt/x.jar", entryClass: feas.SlowJob, parallelism: 1, upgradeMode: savepoint}
`, called, port, t.TempDir())
}
