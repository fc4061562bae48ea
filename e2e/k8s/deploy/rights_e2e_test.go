//go:build e2e

package deploy

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/internal/kubelocal/kubetest"
)

// rights are what each of deploy/kustomize/rights allows in its namespace: verb,
// resource, API group.
func rights() map[string][]string {
	const flink, cluster = "flink.apache.org", "flinkoperator.k8s.io"
	return map[string][]string{
		"observe-apache": may(flink, "flinkdeployments: get list", "flinksessionjobs: get list"),
		"scale-apache":   may(flink, "flinkdeployments: patch", "flinksessionjobs: patch", "flinkdeployments/scale: get patch"),
		"flinkcluster":   append(may(cluster, "flinkclusters: get list patch", "flinkclusters/scale: get patch"), may("", "pods: list")...),
		"workloads": append(may("apps", "deployments: get", "statefulsets: get", "deployments/scale: get patch", "statefulsets/scale: get patch"),
			may("", "pods: list")...),
		"deletion-cost": may("", "pods: patch"),
		"rivals": slices.Concat(may("autoscaling", "horizontalpodautoscalers: list"), may("autoscaling.k8s.io", "verticalpodautoscalers: list"),
			may("keda.sh", "scaledobjects: list"), may("events.k8s.io", "events: list")),
		"operator-store": may("", "configmaps/autoscaler-orders: get"),
		"events":         append(may("events.k8s.io", "events: create list"), may("", "events: patch")...),
		"capacity":       append(may("", "pods: list", "resourcequotas: list", "limitranges: list"), may("apps", "deployments: get", "statefulsets: get")...),
		"proxy":          may("", "services/proxy: get create update"),
	}
}

// may spells out "resource: verb verb".
func may(group string, rules ...string) []string {
	var out []string
	for _, r := range rules {
		resource, verbs, _ := strings.Cut(r, ": ")
		for _, verb := range strings.Fields(verbs) {
			out = append(out, strings.TrimSuffix(verb+" "+resource+" "+group, " "))
		}
	}
	return out
}

// everybody is what Kubernetes lets each ServiceAccount do: ask about itself, and
// whom to trust.
func everybody() []string {
	return slices.Concat(may("authorization.k8s.io", "selfsubjectaccessreviews: create", "selfsubjectrulesreviews: create"),
		may("authentication.k8s.io", "selfsubjectreviews: create"), may("certificates.k8s.io", "clustertrustbundles: get list watch"))
}

func sorted(lists ...[]string) []string {
	out := slices.Concat(lists...)
	slices.Sort(out)
	return slices.Compact(out)
}

// TestEachRightAlone: an account with one right may do what that is for, and of
// all else that the API server knows nothing.
func TestEachRightAlone(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join(manifests, "kustomize", "rights", "*"))
	must(t, err)
	known := slices.Sorted(maps.Keys(rights()))
	var found []string
	for _, f := range folders {
		if name := filepath.Base(f); name != "nodes" { // it is for the whole cluster: TestTheExample
			found = append(found, name)
		}
	}
	if diff := cmp.Diff(known, found); diff != "" {
		t.Errorf("rights that no test knows (-tests +folders):\n%s", diff)
	}
	for _, right := range known {
		t.Run(right, func(t *testing.T) {
			namespace := kubetest.Namespace(t)
			client := accountWith(t, namespace, right)
			allowed := client.allowed(t, namespace, rights()[right])
			if diff := cmp.Diff(sorted(rights()[right]), allowed); diff != "" {
				t.Errorf("-wanted +allowed:\n%s", diff)
			}
		})
	}
}

// accountWith makes an account with one right in a namespace.
func accountWith(t *testing.T, namespace, right string) caller {
	t.Helper()
	plane := kubetest.Plane(t)
	config, err := plane.ServiceAccount(t.Context(), namespace, "worker")
	must(t, err)
	for _, o := range kustomize(t, filepath.Join("rights", right)) {
		if o.GetKind() == "RoleBinding" {
			o.Object["subjects"] = []any{map[string]any{"kind": "ServiceAccount", "name": "worker", "namespace": namespace}}
		}
		must(t, plane.Apply(t.Context(), namespace, o.json(t)))
	}
	return newCaller(t, config)
}

// TestTheExample: the worker of the example may do in each namespace what was
// given to it there, and in no other anything.
func TestTheExample(t *testing.T) {
	client := newCaller(t, install(t))
	other := kubetest.Namespace(t)
	all := rights()
	named := func(names ...string) []string {
		var out []string
		for _, n := range names {
			out = append(out, "get configmaps/autoscaler-"+n)
		}
		return out
	}
	shop := slices.Concat(all["observe-apache"], all["scale-apache"], all["rivals"], all["events"], all["capacity"])
	nodes := append(may("", "nodes: list", "pods: list"), may("karpenter.sh", "nodepools: list")...)
	for namespace, want := range map[string][]string{
		"shop":        sorted(shop, named("orders", "returns")),
		"payments":    sorted(shop, all["flinkcluster"], all["workloads"], all["deletion-cost"], named("invoices")),
		home:          {"list pods"},
		other:         {"list pods"},
		"kube-system": {"get configmaps/cluster-autoscaler-status", "list pods"},
		"":            sorted(nodes, everybody()),
	} {
		t.Run(fmt.Sprintf("in %q", namespace), func(t *testing.T) {
			if diff := cmp.Diff(want, client.allowed(t, namespace, want)); diff != "" {
				t.Errorf("-wanted +allowed:\n%s", diff)
			}
		})
	}
}
