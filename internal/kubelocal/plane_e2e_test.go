//go:build e2e

package kubelocal_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	authentication "k8s.io/api/authentication/v1"
	kube "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"flinkscaler/internal/child"
	"flinkscaler/internal/kubelocal"
	"flinkscaler/internal/kubelocal/kubetest"
)

const patience = 3 * time.Minute

func TestMain(m *testing.M) { os.Exit(kubetest.Main(m)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func await(t *testing.T, what string, look func(ctx context.Context) (string, bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, child.WaitFor(ctx, what, look))
}

func client(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(config)
	must(t, err)
	return c
}

var deployments = schema.GroupVersionResource{Group: "flink.apache.org", Version: "v1beta1", Resource: "flinkdeployments"}

const flinkDeployment = `
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {name: orders}
spec:
  flinkVersion: v1_18
  mode: standalone
  taskManager: {replicas: 2}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: orders}
spec:
  scaleTargetRef: {apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, name: orders}
  minReplicas: 6
  maxReplicas: 8
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
`

// TestRealHPAScalesACustomResource: the operator's CRDs are there, and the controller manager acts on them.
func TestRealHPAScalesACustomResource(t *testing.T) {
	plane, namespace := kubetest.Plane(t), kubetest.Namespace(t)
	must(t, plane.Apply(t.Context(), namespace, flinkDeployment))
	await(t, "6 replicas", func(ctx context.Context) (string, bool, error) {
		object, err := plane.Dynamic().Resource(deployments).Namespace(namespace).Get(ctx, "orders", meta.GetOptions{})
		if err != nil {
			return "", false, err
		}
		replicas, _, err := unstructured.NestedInt64(object.Object, "spec", "taskManager", "replicas")
		return fmt.Sprintf("%d replicas", replicas), replicas == 6, err
	})
}

func TestWhoMayWhat(t *testing.T) {
	plane, namespace := kubetest.Plane(t), kubetest.Namespace(t)
	account, err := plane.ServiceAccount(t.Context(), namespace, "reader")
	must(t, err)
	list := func(config *rest.Config) error {
		_, err := client(t, config).CoreV1().Pods(namespace).List(t.Context(), meta.ListOptions{})
		return err
	}
	for who, config := range map[string]*rest.Config{"account": account, "user": plane.As("ann"), "group": plane.As("bob", "dev")} {
		if err := list(config); !kube.IsForbidden(err) {
			t.Errorf("%s without a role: %v; want forbidden", who, err)
		}
	}
	must(t, plane.Apply(t.Context(), namespace, `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: read}
rules: [{apiGroups: [""], resources: [pods], verbs: [list]}]
`, fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: read}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: read}
subjects:
- {kind: ServiceAccount, name: reader, namespace: %s}
- {kind: User, apiGroup: rbac.authorization.k8s.io, name: ann}
- {kind: Group, apiGroup: rbac.authorization.k8s.io, name: dev}
`, namespace)))
	for who, config := range map[string]*rest.Config{"account": account, "user": plane.As("ann"), "group": plane.As("bob", "dev")} {
		await(t, who+" to be allowed", func(context.Context) (string, bool, error) {
			err := list(config)
			return fmt.Sprint(err), err == nil, nil
		})
	}
	account.BearerToken += "x"
	if err := list(account); !kube.IsUnauthorized(err) {
		t.Errorf("with a bad token: %v; want unauthorized", err)
	}
}

// TestKubeconfigs: what is written is what a program reads.
func TestKubeconfigs(t *testing.T) {
	plane, namespace := kubetest.Plane(t), kubetest.Namespace(t)
	account, err := plane.ServiceAccount(t.Context(), namespace, "worker")
	must(t, err)
	file := func(config *rest.Config) string {
		path := t.TempDir() + "/config"
		must(t, kubelocal.WriteKubeconfig(path, config))
		return path
	}
	for path, want := range map[string]string{
		plane.Kubeconfig():    "admin",
		file(plane.As("ann")): "ann",
		file(account):         "system:serviceaccount:" + namespace + ":worker",
	} {
		config, err := clientcmd.BuildConfigFromFlags("", path)
		must(t, err)
		if got := userOf(t, config); got != want {
			t.Errorf("%s is %q; want %q", path, got, want)
		}
	}
}

func userOf(t *testing.T, config *rest.Config) string {
	t.Helper()
	answer, err := client(t, config).AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authentication.SelfSubjectReview{}, meta.CreateOptions{})
	must(t, err)
	return answer.Status.UserInfo.Username
}

// TestAKilledAPIServerGoesOn, and so does a killed etcd: what they had told a client is there.
func TestAKilledAPIServerGoesOn(t *testing.T) {
	plane, err := kubelocal.Start(t.Context(), kubelocal.Options{Dir: t.TempDir()})
	must(t, err)
	t.Cleanup(func() { must(t, plane.Close()) })
	namespace, err := plane.Namespace(t.Context(), "kept")
	must(t, err)
	must(t, plane.APIServer().Kill())
	if _, err := plane.Namespace(t.Context(), "kept"); err == nil {
		t.Error("a killed API server answers")
	}
	must(t, plane.Etcd().Kill())
	must(t, plane.Etcd().Launch())
	must(t, plane.APIServer().Launch())
	must(t, plane.WaitReady(t.Context()))
	if _, err := plane.Clientset().CoreV1().Namespaces().Get(t.Context(), namespace, meta.GetOptions{}); err != nil {
		t.Errorf("what was written before: %v", err)
	}
}

// TestNamesOfNamespaces: a test's name becomes one that the API server takes, another one each time.
func TestNamesOfNamespaces(t *testing.T) {
	plane := kubetest.Plane(t)
	seen := map[string]bool{}
	for _, prefix := range []string{"TestX/a_b", "TestX/a_b", "--", "", "x123456789x123456789x123456789x123456789x123456789x123456789x123456789"} {
		name, err := plane.Namespace(t.Context(), prefix)
		must(t, err)
		if seen[name] {
			t.Errorf("%s twice", name)
		}
		seen[name] = true
	}
}

func TestApplyChangesWhatIsThere(t *testing.T) {
	plane, namespace := kubetest.Plane(t), kubetest.Namespace(t)
	configMap := func(value string) string {
		return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {key: " + value + "}\n---\n"
	}
	for _, value := range []string{"first", "second"} {
		must(t, plane.Apply(t.Context(), namespace, configMap(value)))
		got, err := plane.Clientset().CoreV1().ConfigMaps(namespace).Get(t.Context(), "c", meta.GetOptions{})
		must(t, err)
		if got.Data["key"] != value {
			t.Errorf("it holds %q; want %q", got.Data["key"], value)
		}
	}
	if err := plane.Apply(t.Context(), namespace, "apiVersion: v1\nkind: Ghost\nmetadata: {name: g}"); err == nil {
		t.Error("a kind that does not exist was applied")
	}
	if err := plane.Apply(t.Context(), namespace, "a: [b"); err == nil {
		t.Error("half a manifest was applied")
	}
}
