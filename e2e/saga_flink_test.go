//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"flinkscaler/core"
	"flinkscaler/e2e/managed"
	"flinkscaler/e2e/testjob"
	"flinkscaler/internal/flinklocal"
	"flinkscaler/internal/toolcache"
	"flinkscaler/workflows"
)

// TestUndoOnFlink is BC-18 on a real Flink: the job fails at four subtasks, goes
// back to what it ran at, and stays off that size.
func TestUndoOnFlink(t *testing.T) {
	for _, version := range []string{toolcache.Flink2, toolcache.Flink1} {
		t.Run(version, func(t *testing.T) {
			t.Parallel() // both wait, most of the time
			f := newReal(t, flinklocal.Options{Version: version, TaskManagers: 2, Slots: 4})
			f.rate(500)
			jar, err := testjob.Jar()
			must(t, err)
			f.id, err = f.Submit(t.Context(), jar, flinklocal.JobOptions{
				Name: job, Parallelism: 1,
				Args: []string{"--rate-file", f.rates.Path(), "--splits", testSplit, "--cost-us", "1000", "--name", job, "--max-parallelism", "24", "--fail-at", "4"},
			})
			must(t, err)
			must(t, f.WaitRunning(t.Context(), f.id))
			r := newRig(t, f.URL(), rigOptions{})
			r.start(job, managed.Quick(nil))
			r.await(job, "a quiet start", managed.Settled)
			r.starter("override", "dev/"+job, "--vertex", slowVertex+"=2")
			r.await(job, "size 2", func(s workflows.Status) bool { return slow(s) == 2 && s.Rescale == nil })
			r.starter("override", "dev/"+job, "--vertex", slowVertex+"=4", "--for", "20s")
			s := r.await(job, "the undo", func(s workflows.Status) bool { return s.LastRescale != nil && s.LastRescale.Attempt >= 2 })
			o := s.LastRescale
			if o.Kind != core.Undone || o.Undo == nil || o.Undo.Kind != core.Applied || !strings.Contains(o.Note, "network buffers") {
				t.Fatalf("outcome %+v, undo %+v", o, o.Undo)
			}
			f.rate(3200)
			after := r.await(job, "a size that does not fail", func(s workflows.Status) bool { return slow(s) == 3 && s.Rescale == nil })
			t.Logf("undone: %s; then %s", o.Note, managed.Brief(after))
		})
	}
}

// TestForeignWriterOnFlink is I8 on a real Flink.
func TestForeignWriterOnFlink(t *testing.T) {
	f := newReal(t, flinklocal.Options{TaskManagers: 2, Slots: 4})
	f.rate(500)
	f.submit(1, "1000")
	r := newRig(t, f.URL(), rigOptions{})
	r.start(job, managed.Quick(map[string]string{"job.autoscaler.scale-down.interval": "0 s"}))
	r.await(job, "a quiet start", managed.Settled)
	f.rate(2500)
	r.await(job, "growth", func(s workflows.Status) bool { return slow(s) >= 3 && s.Rescale == nil })
	writes := len(r.proxy.Taken())
	f.foreign(t, slowID(t, r), 2)
	s := r.await(job, "a hold that names both numbers", func(s workflows.Status) bool {
		return s.Reason == core.ReasonForeignWriter && strings.Contains(s.Note, "-> 2")
	})
	t.Logf("held: %s", s.Note)
	r.await(job, "five more cycles", func(now workflows.Status) bool { return now.Cycle > s.Cycle+5 })
	if n := len(r.proxy.Taken()) - writes; n != 0 {
		t.Errorf("%d writes over somebody else's", n)
	}
	r.starter("evaluate-now", "dev/"+job)
	r.await(job, "growth after somebody looked at it", func(s workflows.Status) bool { return slow(s) >= 3 && s.Rescale == nil })
}

// foreign writes requirements past the worker: every vertex at 1, one at upper.
func (r *real) foreign(t *testing.T, id string, upper int) {
	t.Helper()
	url := r.URL() + "/jobs/" + r.id + "/resource-requirements"
	held := map[string]map[string]map[string]int{}
	must(t, flinkJSON(t.Context(), http.MethodGet, url, "", &held))
	var parts []string
	for v, b := range held {
		n := b["parallelism"]["upperBound"]
		if v == id {
			n = upper
		}
		parts = append(parts, fmt.Sprintf(`%q:{"parallelism":{"lowerBound":1,"upperBound":%d}}`, v, n))
	}
	must(t, flinkJSON(t.Context(), http.MethodPut, url, "{"+strings.Join(parts, ",")+"}", &struct{}{}))
}

// TestSlotsOnFlink is BC-16 and BC-40 on a real Flink: what slots allow is taken
// and the rest stays asked for; slots that are lost make no new size.
func TestSlotsOnFlink(t *testing.T) {
	f := newReal(t, flinklocal.Options{TaskManagers: 2, Slots: 2})
	f.rate(500)
	f.submit(1, "1000")
	r := newRig(t, f.URL(), rigOptions{})
	r.start(job, managed.Quick(map[string]string{"job.autoscaler.rescale.verify-timeout": "20 s", "job.autoscaler.scale-down.interval": "0 s"}))
	r.await(job, "a quiet start", managed.Settled)
	f.rate(3600) // 5.1 subtasks at a target of 70 %
	s := r.await(job, "a part of the size", func(s workflows.Status) bool { return s.LastRescale != nil && s.LastRescale.Kind == core.Partial })
	if o := s.LastRescale; o.Reason != core.ReasonNoSlots {
		t.Errorf("outcome %+v", o)
	}
	r.await(job, "all slots in use", func(s workflows.Status) bool { return slow(s) == 4 && s.Rescale == nil })
	victim := f.TaskManagers()[1]
	must(t, victim.Kill())
	held := r.await(job, "a hold that says what is missing", func(s workflows.Status) bool { return s.Reason == core.ReasonDegraded })
	t.Logf("partial: %s; degraded: %s", s.LastRescale.Note, held.Note)
	writes := len(r.proxy.Taken())
	f.rate(100)
	r.await(job, "ten more cycles", func(now workflows.Status) bool { return now.Cycle > held.Cycle+10 })
	if n := len(r.proxy.Taken()) - writes; n != 0 {
		t.Errorf("%d writes while degraded", n)
	}
	f.rate(3600)
	must(t, victim.Restart(t.Context()))
	r.await(job, "all slots in use again", func(s workflows.Status) bool { return slow(s) == 4 })
}

// flinkJSON is one request to Flink, past everything of ours.
func flinkJSON(ctx context.Context, method, url, body string, to any) error {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	return doJSON(req, to)
}

func doJSON(req *http.Request, to any) error {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", req.Method, req.URL.Path, resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(to)
}
