package flinksim

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// serve starts a cluster for real.
func serve(t *testing.T, o Options) (*Cluster, string) {
	t.Helper()
	c := New(o)
	url, err := c.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, url
}

func fetchURL(ctx context.Context, method, url, body string) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), err
}

func TestWaysNotToAnswer(t *testing.T) {
	t.Parallel()
	c, url := serve(t, Options{})
	c.AddJob(JobSpec{})
	for mode, want := range map[Unavailability]struct {
		status int
		words  string
		broken bool
	}{
		NoLeader:     {503, `{"errors":["Service temporarily unavailable due to an ongoing leader election. Please refresh."]}`, false},
		Recovering:   {500, "RecipientUnreachableException", false},
		HTML:         {200, "<!DOCTYPE html>", false},
		Redirect:     {302, "/login", false},
		Unauthorized: {401, "Unauthorized", false},
		Conflict:     {409, "is in progress", false},
		HalfBody:     {200, `{"jobs":`, true},
		Reset:        {0, "", true},
	} {
		c.SetUnavailable(mode)
		status, body, err := fetchURL(t.Context(), http.MethodGet, url+"/v1/jobs/overview", "")
		if status != want.status || !strings.Contains(body, want.words) || (err != nil) != want.broken {
			t.Errorf("%s: %d %s %v", mode, status, body, err)
		}
	}
	c.SetUnavailable(Available)
	if status, _, err := fetchURL(t.Context(), http.MethodGet, url+"/v1/jobs/overview", ""); status != 200 || err != nil {
		t.Errorf("available again: %d %v", status, err)
	}
}

func TestHangingEndsWithTheMode(t *testing.T) {
	t.Parallel()
	c, url := serve(t, Options{})
	c.SetUnavailable(Hanging)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := fetchURL(ctx, http.MethodGet, url+"/config", ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it hangs: %v", err)
	}
	done := make(chan error, 1)
	go func() {
		_, _, err := fetchURL(context.Background(), http.MethodGet, url+"/config", "")
		done <- err
	}()
	c.SetUnavailable(Available)
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Error("the request hangs on")
	}
}

// TestAnswerIsLost: the PUT was taken but its client never learns.
func TestAnswerIsLost(t *testing.T) {
	t.Parallel()
	var taken Write
	c, url := serve(t, Options{AfterPut: func(w Write) Unavailability { taken = w; return Reset }})
	id := c.AddJob(JobSpec{})
	if status, _, err := fetchURL(t.Context(), http.MethodPut, url+"/v1/jobs/"+id+"/resource-requirements", requirements(1, 4, 1)); err == nil {
		t.Errorf("an answer came: %d", status)
	}
	if w := c.Writes(); len(w) != 1 || w[0].Status != 200 || taken.Bounds["enrich"].Upper != 4 {
		t.Errorf("writes %+v, hook saw %+v", w, taken)
	}
	if v, err := c.View(id); err != nil || v.Vertices[1].Upper != 4 {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestSteeringOverHTTP(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{})
	id := r.c.AddJob(JobSpec{Name: "orders"})
	post := func(path, body string, want int) string {
		t.Helper()
		status, answer := r.ask(http.MethodPost, "/sim/"+path, body)
		if status != want {
			t.Errorf("POST /sim/%s %s: %d %s, want %d", path, body, status, answer, want)
		}
		return answer
	}
	post("load", `{"job":"orders","load":"const:4000"}`, 200)
	post("load", `{"job":"orders","load":"rocket"}`, 400)
	post("load", `{"job":"nope","load":"1"}`, 404)
	post("load", `{"jobb":"orders"}`, 400)
	post("advance", `{"by":"10s"}`, 200)
	post("slots", `{"slots":12}`, 200)
	post("slots", `{}`, 400)
	post("checkpoints", `{"mode":"fail"}`, 200)
	post("nope", `{}`, 400)
	var v View
	r.get("/sim/view?job=orders", &v)
	if v.JobID != id || v.Load != 4000 || !near(v.Lag, 20000) || v.SlotsTotal != 12 {
		t.Errorf("view: %+v", v)
	}
	post("fault", `{"fault":"hang-taskmanager"}`, 200)
	post("fault", `{"fault":"hang-taskmanager","on":false}`, 200)
	post("fault", `{"fault":"lose-taskmanager"}`, 200)
	post("fault", `{"fault":"restore-taskmanager"}`, 200)
	post("fault", `{"fault":"rocket"}`, 400)
	post("fault", `{"fault":"unavailable","mode":"503"}`, 200)
	if status, _ := r.ask(http.MethodGet, "/config", ""); status != http.StatusServiceUnavailable {
		t.Errorf("unavailable: %d", status)
	}
	post("fault", `{"fault":"unavailable","on":false}`, 200)
	r.mustPut(id, requirements(1, 3, 1))
	var w []Write
	r.get("/sim/writes", &w)
	if len(w) != 1 || w[0].Bounds["enrich"].Upper != 3 {
		t.Errorf("writes: %+v", w)
	}
	var again map[string]string
	if err := json.Unmarshal([]byte(post("job", `{"action":"resubmit"}`, 200)), &again); err != nil || again["jobId"] == id || again["jobId"] == "" {
		t.Errorf("resubmit: %v %v", again, err)
	}
	post("job", `{"job":"orders","action":"cancel"}`, 200)
	post("job", `{"job":"orders","action":"explode"}`, 400)
	var all []View
	r.get("/sim/view", &all)
	if len(all) != 2 || all[1].State != "CANCELED" {
		t.Errorf("views: %+v", all)
	}
}
