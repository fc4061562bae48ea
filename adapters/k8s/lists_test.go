package k8s

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// TestJobsOfANamespaceShareLists: thousands of jobs look for rivals each cycle, and
// the API server is asked once for all of a namespace.
func TestJobsOfANamespaceShareLists(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		kind := `{"kind":"HorizontalPodAutoscalerList","apiVersion":"autoscaling/v2","items":[{"metadata":{"name":"` + strings.Split(r.URL.Path, "/")[5] + `"}}]}`
		_, _ = w.Write([]byte(kind)) // the client sees what is missing
	}))
	t.Cleanup(server.Close)
	c, err := New(Config{REST: &rest.Config{Host: server.URL}})
	if err != nil {
		t.Fatal(err)
	}
	look := func(namespace string) {
		got, err := c.shared(t.Context(), question{resource: horizontalPodAutoscalers(), namespace: namespace})
		if err != nil || len(got.found) != 1 || got.found[0].GetName() != namespace {
			t.Errorf("%s: %v, %v", namespace, got, err)
		}
	}
	var jobs sync.WaitGroup
	for range 200 {
		jobs.Go(func() { look("shop") })
	}
	jobs.Wait()
	if n := asked.Load(); n > 2 {
		t.Errorf("asked %d times for 200 jobs", n)
	}
	before := asked.Load()
	look("payments")
	if n := asked.Load() - before; n != 1 {
		t.Errorf("another namespace: asked %d times", n)
	}
	c.shareFor = 0
	before = asked.Load()
	look("shop")
	if n := asked.Load() - before; n != 1 {
		t.Errorf("an answer that is too old: asked %d times", n)
	}
	if shareFor > 10*time.Second {
		t.Errorf("a rival may be there for %s unseen", shareFor)
	}
}
