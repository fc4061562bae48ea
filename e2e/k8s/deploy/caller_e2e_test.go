//go:build e2e

package deploy

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"flinkscaler/internal/kubelocal/kubetest"
)

// caller tries what an account may do by doing it: nothing is written, since all
// is a dry run, and what is asked for by name does not exist.
type caller struct {
	client *http.Client
	url    string
}

func newCaller(t *testing.T, config *rest.Config) caller {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	must(t, err)
	t.Cleanup(client.CloseIdleConnections)
	return caller{client, config.Host}
}

// request is one verb on one resource of a namespace, or of the cluster.
type request struct {
	verb, group, version, resource, subresource, name, namespace string
}

// String is as in the tables: verb, resource, API group.
func (r request) String() string {
	resource := r.resource
	if r.subresource != "" {
		resource += "/" + r.subresource
	}
	if r.name != nobody {
		resource += "/" + r.name
	}
	return strings.TrimSuffix(r.verb+" "+resource+" "+r.group, " ")
}

// nobody is what no object is called.
const nobody = "nobody"

func verbs() []string {
	return []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}
}

// named are verbs on one object.
func (r request) named() bool {
	return slices.Contains([]string{"get", "update", "patch", "delete"}, r.verb) || r.subresource != ""
}

func (r request) path() string {
	path := "/api/" + r.version
	if r.group != "" {
		path = "/apis/" + r.group + "/" + r.version
	}
	if r.namespace != "" {
		path += "/namespaces/" + r.namespace
	}
	path += "/" + r.resource
	if r.named() {
		path += "/" + r.name
	}
	if r.subresource != "" {
		path += "/" + r.subresource
	}
	switch r.verb {
	case "get", "list":
		return path
	case "watch":
		return path + "?watch=true&timeoutSeconds=1"
	}
	return path + "?dryRun=All"
}

func (r request) method() string {
	return map[string]string{
		"get": http.MethodGet, "list": http.MethodGet, "watch": http.MethodGet, "create": http.MethodPost, "update": http.MethodPut,
		"patch": http.MethodPatch, "delete": http.MethodDelete, "deletecollection": http.MethodDelete,
	}[r.verb]
}

// refused is true when the API server says that the account has not the right to
// it. Any other answer, "not found" too, comes after that.
func (c caller) refused(ctx context.Context, r request) (bool, error) {
	q, err := http.NewRequestWithContext(ctx, r.method(), c.url+r.path(), strings.NewReader("{}"))
	if err != nil {
		return false, err
	}
	q.Header.Set("Content-Type", "application/json")
	if r.verb == "patch" {
		q.Header.Set("Content-Type", "application/merge-patch+json")
	}
	answer, err := c.client.Do(q)
	if err != nil {
		return false, err
	}
	defer answer.Body.Close() //nolint:errcheck // was read
	text, err := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusForbidden || err != nil {
		return false, err
	}
	var status metav1.Status
	if err := json.Unmarshal(text, &status); err != nil || status.Reason != metav1.StatusReasonForbidden {
		return false, fmt.Errorf("%s: %s", r, text)
	}
	return strings.Contains(status.Message, " cannot "), nil
}

// allowed gives all that the account may do in a namespace, or with what has
// none: every verb on every resource and subresource that the API server knows,
// and on those that rights name besides. It waits until the first of wanted is
// allowed: roles count a moment after they were written.
func (c caller) allowed(t *testing.T, namespace string, wanted []string) []string {
	t.Helper()
	all := requests(t, namespace, wanted)
	if len(all) < 250 && namespace != "" || len(all) < 100 {
		t.Fatalf("only %d requests", len(all))
	}
	for _, r := range all {
		if slices.Contains(wanted, r.String()) {
			await(t, r.String()+" to be allowed", func(ctx context.Context) (string, bool, error) {
				refused, err := c.refused(ctx, r)
				return "refused", !refused && err == nil, err
			})
		}
	}
	var out []string
	var lock sync.Mutex
	var group sync.WaitGroup
	next := make(chan request)
	for range 8 {
		group.Go(func() {
			for r := range next {
				refused, err := c.refused(t.Context(), r)
				if err != nil {
					t.Error(err)
				}
				if !refused {
					lock.Lock()
					out = append(out, r.String())
					lock.Unlock()
				}
			}
		})
	}
	for _, r := range all {
		next <- r
	}
	close(next)
	group.Wait()
	return sorted(out)
}

// requests are all that can be tried.
func requests(t *testing.T, namespace string, wanted []string) []request {
	t.Helper()
	_, lists, err := kubetest.Plane(t).Clientset().Discovery().ServerGroupsAndResources()
	must(t, err)
	var out []request
	add := func(groupVersion, resource, name string) {
		group, version, found := strings.Cut(groupVersion, "/")
		if !found {
			group, version = "", groupVersion
		}
		resource, subresource, _ := strings.Cut(resource, "/")
		for _, verb := range verbs() {
			r := request{verb, group, version, resource, subresource, name, namespace}
			if subresource == "" || r.verb != "list" && r.verb != "watch" && r.verb != "deletecollection" {
				out = append(out, r)
			}
		}
	}
	for _, list := range lists {
		for _, r := range list.APIResources {
			if r.Namespaced == (namespace != "") {
				add(list.GroupVersion, r.Name, nobody)
			}
		}
	}
	if namespace != "" {
		add("keda.sh/v1alpha1", "scaledobjects", nobody)
		add("autoscaling.k8s.io/v1", "verticalpodautoscalers", nobody)
		for _, w := range wanted {
			if name, ok := strings.CutPrefix(w, "get configmaps/"); ok {
				add("v1", "configmaps", name)
			}
		}
		return out
	}
	add("v1", "pods", nobody) // of all namespaces
	add("karpenter.sh/v1", "nodepools", nobody)
	return out
}
