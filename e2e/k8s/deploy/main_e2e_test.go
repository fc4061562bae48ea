//go:build e2e

package deploy

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"flinkscaler/internal/child"
	"flinkscaler/internal/kubelocal/kubetest"
	"flinkscaler/internal/kubesim"
)

func TestMain(m *testing.M) { os.Exit(kubetest.Main(m, kubesim.FlinkClusterCRD, serviceMonitorCRD)) }

// serviceMonitorCRD stands for the Prometheus operator's, as far as it is used.
const serviceMonitorCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: servicemonitors.monitoring.coreos.com}
spec:
  group: monitoring.coreos.com
  scope: Namespaced
  names: {kind: ServiceMonitor, listKind: ServiceMonitorList, plural: servicemonitors, singular: servicemonitor}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [selector, endpoints]
            properties:
              selector: {type: object, properties: {matchLabels: {type: object, additionalProperties: {type: string}}}}
              endpoints:
                type: array
                items: {type: object, properties: {port: {type: string}, path: {type: string}, interval: {type: string, pattern: "^[0-9]+(ms|s|m|h)$"}}}
`

// patience is for what the API server takes up a moment after it was written.
const patience = 3 * time.Minute

// The place and the account of the example.
const (
	home    = "flinkscaler"
	account = "flinkscaler"
)

// watched are the namespaces of the example.
func watched() []string { return []string{"shop", "payments"} }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// await waits until look is done.
func await(t *testing.T, what string, look func(ctx context.Context) (state string, done bool, err error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, child.WaitFor(ctx, what, look))
}

var installation sync.Mutex //nolint:gochecknoglobals // the example is there once on the shared plane

// install applies the example as kustomize renders it, and gives how its worker
// reaches the API server.
func install(t *testing.T) *rest.Config {
	t.Helper()
	installation.Lock()
	defer installation.Unlock()
	apply(t, kustomize(t, "example"))
	config, err := kubetest.Plane(t).ServiceAccount(t.Context(), home, account)
	must(t, err)
	return config
}

// apply writes objects; namespaces first.
func apply(t *testing.T, objects []object) {
	t.Helper()
	plane := kubetest.Plane(t)
	for _, n := range append(watched(), home) {
		must(t, plane.Apply(t.Context(), "", "{apiVersion: v1, kind: Namespace, metadata: {name: "+n+", labels: {pod-security.kubernetes.io/enforce: "+security(n)+"}}}"))
	}
	for _, o := range objects {
		must(t, plane.Apply(t.Context(), "", o.json(t)))
	}
}

// security is the level that a namespace enforces on its pods.
func security(namespace string) string {
	if namespace == home {
		return "restricted"
	}
	return "privileged"
}

// live reads objects as the API server keeps them.
func live(t *testing.T, objects []object) []object {
	t.Helper()
	var out []object
	for _, o := range objects {
		got, err := kubetest.Plane(t).Dynamic().Resource(o.resource()).Namespace(o.GetNamespace()).Get(t.Context(), o.GetName(), metav1.GetOptions{})
		must(t, err)
		out = append(out, object{got})
	}
	return out
}
