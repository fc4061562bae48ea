//go:build e2e

package hadoop_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"flinkscaler/e2e/hadoop"
	"flinkscaler/internal/flinklocal"
)

func timed(t *testing.T, what string, do func() error) {
	t.Helper()
	began := time.Now()
	must(t, do())
	t.Logf("%s took %s", what, time.Since(began).Round(100*time.Millisecond))
}

func send(t *testing.T, method, url string, body any) string {
	t.Helper()
	encoded, err := json.Marshal(body)
	must(t, err)
	request, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(encoded))
	must(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	var answer bytes.Buffer
	_, err = answer.ReadFrom(response.Body)
	must(t, err)
	if response.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %s: %s", method, url, response.Status, answer.String())
	}
	return answer.String()
}

// rescale asks for another size of all vertices through the proxy of the active ResourceManager.
func rescale(t *testing.T, app *hadoop.App, size int) {
	t.Helper()
	jobID, err := app.JobID(t.Context())
	must(t, err)
	var wanted map[string]map[string]map[string]int
	must(t, app.Get(t.Context(), "/jobs/"+jobID+"/resource-requirements", &wanted))
	for id := range wanted {
		wanted[id]["parallelism"]["upperBound"] = size
	}
	active, err := shared.Active(t.Context())
	must(t, err)
	send(t, http.MethodPut, active.URL()+"/proxy/"+app.ID+"/jobs/"+jobID+"/resource-requirements", wanted)
	must(t, app.WaitOnlyJob(t.Context(), fmt.Sprintf("all tasks at %d", size), func(j flinklocal.Job) bool {
		for _, v := range j.Vertices {
			if v.Parallelism != size {
				return false
			}
		}
		return j.AllRunning()
	}))
}
