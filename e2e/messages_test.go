//go:build integration

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"flinkscaler/core"
	"flinkscaler/core/spec"
	"flinkscaler/internal/flinksim"
	"flinkscaler/workflows"
)

// courier is a way in which a message reaches a job.
type courier struct {
	name string
	// answers is true where the sender is told what came of it.
	answers bool
	// send gives a message with its JSON, empty for none; args are the starter's.
	send func(r *rig, job, message, input string, args []string) (string, error)
}

func couriers() []courier {
	return []courier{
		{"tctl", false, func(r *rig, job, message, input string, _ []string) (string, error) {
			return r.command(bin.tctl, append([]string{"workflow", "signal", "--wid", "flink/dev/" + job, "--name", message}, r.input("--input_file", input)...)...)
		}},
		{"temporal-signal", false, func(r *rig, job, message, input string, _ []string) (string, error) {
			return r.command(bin.temporal, append([]string{"workflow", "signal", "--workflow-id", "flink/dev/" + job, "--name", message}, r.input("--input-file", input)...)...)
		}},
		{"temporal-update", true, func(r *rig, job, message, input string, _ []string) (string, error) {
			return r.command(bin.temporal, append([]string{"workflow", "update", "execute", "--workflow-id", "flink/dev/" + job, "--name", message}, r.input("--input-file", input)...)...)
		}},
		{"starter", true, func(r *rig, job, message, _ string, args []string) (string, error) {
			return r.command(bin.starter, append([]string{message, "dev/" + job}, args...)...)
		}},
	}
}

// input hands an input over in a file: one of 1 MB is too long for a command
// line.
func (r *rig) input(flag, input string) []string {
	if input == "" {
		return nil
	}
	f, err := os.CreateTemp(r.dir, "input-*.json")
	must(r.t, err)
	_, err = f.WriteString(input)
	must(r.t, err)
	must(r.t, f.Close())
	return []string{flag, f.Name()}
}

// letter is one message, in the order in which they are sent to a job.
type letter struct {
	message string
	// input is its JSON; with a proposal, %s is its id. args are the starter's.
	input string
	args  []string
	// says is in the answer of who answers, what in the list of orders.
	says string
	// proposal is true for a message that answers one.
	proposal bool
	// after is what the job comes to.
	what  string
	after func(workflows.Status) bool
}

func letters(me string) []letter {
	in := func(format string) string { return strings.ReplaceAll(format, "ME", me) }
	by := func(more ...string) []string { return append([]string{"--by", me}, more...) }
	mine := func(who string) bool { return who == me }
	return []letter{
		{
			workflows.MsgSetPolicy, in(`{"policy": {"job.autoscaler.approval.for": "ALL", "job.autoscaler.approval.quiet": "2 s"}, "by": "ME"}`),
			by("--policy", "approval.for=ALL", "--policy", "approval.quiet=2 s"), "policy is set", false,
			"both keys", func(s workflows.Status) bool { return len(s.Set) == 2 && mine(s.Set[0].By) },
		},
		{
			workflows.MsgPause, in(`{"by": "ME", "reason": "release 1.7", "for": "2 h"}`), by("--reason", "release 1.7", "--for", "2h"), "paused until", false,
			"the pause, with who, why and until when", func(s workflows.Status) bool {
				return s.State == workflows.Paused && s.Reason == core.ReasonPaused && mine(s.Pause.By) && s.Pause.Reason == "release 1.7" && s.Pause.Until.Sub(s.Pause.Since) == 2*time.Hour
			},
		},
		{
			workflows.MsgOverride, in(`{"parallelism": 3, "by": "ME", "for": "1 h"}`), by("--parallelism", "3", "--for", "1h"), "the job is paused", false,
			"the override, which waits", func(s workflows.Status) bool {
				return s.Override != nil && mine(s.Override.By) && s.Rescale == nil && size(s) != 3
			},
		},
		{
			workflows.MsgResume, in(`{"by": "ME"}`), by(), "resumed", false,
			"the size of the override", func(s workflows.Status) bool { return s.Pause == nil && size(s) == 3 && s.Rescale == nil },
		},
		{
			workflows.MsgEvaluateNow, "", by(), "evaluat", false,
			"another order", func(s workflows.Status) bool { return s.Orders == 5 },
		},
		{
			workflows.MsgUndo, in(`{"by": "ME", "reason": "worse", "for": "1 h"}`), by("--reason", "worse", "--for", "1h"), "undo of rescale", false,
			"the size before", func(s workflows.Status) bool {
				return s.Override != nil && mine(s.Override.By) && size(s) != 3 && s.Rescale == nil && s.Reason == core.ReasonOverride
			},
		},
		{
			workflows.MsgClearOverride, in(`{"by": "ME"}`), by(), "override is cleared", false,
			"no override", func(s workflows.Status) bool { return s.Override == nil && s.Rescale == nil },
		},
		{
			workflows.MsgReject, in(`{"decision": "%s", "by": "ME"}`), by(), "is rejected", true,
			"the no", func(s workflows.Status) bool {
				return s.Proposal == nil && len(s.Rejections) == 1 && mine(s.Rejections[0].By)
			},
		},
		{
			workflows.MsgApprove, in(`{"decision": "%s", "by": "ME"}`), by(), "is approved", true,
			"the change", func(s workflows.Status) bool { return size(s) >= 4 && s.Rescale == nil },
		},
	}
}

// TestMessages sends every message in every way to a real server, and what is
// malformed as well. One installation, one job for each way.
func TestMessages(t *testing.T) {
	t.Parallel()
	c := simOf(t, 40)
	r := newRig(t, c.URL(), rigOptions{})
	for _, w := range couriers() {
		c.AddJob(flinksim.JobSpec{Name: w.name, Load: flinksim.Constant(1200)})
		r.start(w.name, brisk(map[string]string{"job.autoscaler.catch-up.duration": "0 s"}))
	}
	t.Run("each", func(t *testing.T) {
		for _, w := range couriers() {
			t.Run(w.name, func(t *testing.T) {
				t.Parallel()
				r := r.with(t)
				r.await(w.name, "a quiet start", rests)
				for _, l := range letters(w.name) {
					r.deliver(c, w, l)
				}
				r.deliverMalformed(w)
			})
		}
	})
	t.Run("two at once", func(t *testing.T) { r.with(t).twoAtOnce(couriers()[0].name) })
	t.Run("fleet", func(t *testing.T) { r.with(t).fleetOrders() })
	for _, w := range couriers() {
		r.unharmed(w.name)
	}
}

func (r *rig) with(t *testing.T) *rig {
	out := *r
	out.t = t
	return &out
}

// deliver sends one letter and waits for what it does.
func (r *rig) deliver(c *flinksim.Cluster, w courier, l letter) {
	r.t.Helper()
	input, args := l.input, l.args
	if l.proposal {
		must(r.t, c.SetLoad(w.name, flinksim.Constant(3000)))
		id := r.await(w.name, "a proposal to "+l.message, waits).Proposal.ID
		input, args = fmt.Sprintf(input, id), append([]string{id}, args...)
	}
	out, err := w.send(r, w.name, l.message, input, args)
	if err != nil || (w.answers && !strings.Contains(out, l.says)) {
		r.t.Fatalf("%s: no %q: %v\n%s", l.message, l.says, err, out)
	}
	r.t.Logf("%s is sent: %.200s", l.message, out)
	r.await(w.name, "after "+l.message+": "+l.what, l.after)
	if l.message == workflows.MsgEvaluateNow {
		return
	}
	for _, o := range r.history(w.name).Orders {
		if o.Message == l.message && o.By == w.name {
			return
		}
	}
	r.t.Errorf("no %s by %s in the history", l.message, w.name)
}

// malformed are messages that cannot be carried out.
type malformed struct {
	reason, message, input string
	args                   []string
	// refused is in what is said of it; carried is true for one that only looks
	// malformed.
	refused string
	carried bool
}

func malformedLetters() []malformed {
	big := strings.Repeat("x", 1<<20)
	return []malformed{
		{"a number is no name", workflows.MsgPause, `{"by": 7}`, nil, "pause.by: must be a string, got 7", false},
		{"a list is no object", workflows.MsgPause, `["ann"]`, nil, "must be one JSON object", false},
		{"every problem at once", workflows.MsgOverride, `{"parallelism": "many", "until": "yesterday"}`, []string{"--parallelism", "0"}, "parallelism", false},
		{"an unknown field may be a mistyped limit", workflows.MsgPause, `{"untill": "2099-01-01T00:00:00Z"}`, []string{"--untill", "18:30"}, "untill", false},
		{"nothing to do", workflows.MsgOverride, "", []string{}, "parallelism", false},
		{"no such proposal", workflows.MsgApprove, `{"decision": "1-1"}`, []string{"1-1"}, "waits for an answer", false},
		{"no such policy key", workflows.MsgSetPolicy, `{"policy": {"job.autoscaler.nonsense": 1}}`, []string{"--policy", "nonsense=1"}, "nonsense", false},
		{"1 MB is no order of a person", workflows.MsgPause, fmt.Sprintf(`{"reason": %q}`, big), []string{"--reason", big[:100000]}, "", false},
		{"no such message", "puase", `{"by": "ann"}`, []string{}, "puase", false},
		{"encoded twice and wrong", workflows.MsgPause, `"{\"by\": 7}"`, nil, "pause.by", false},
		{"encoded twice, as tctl's batch does", workflows.MsgEvaluateNow, `"{\"by\": \"ann\"}"`, nil, "", true},
		{"null is no field", workflows.MsgEvaluateNow, "null", nil, "", true},
	}
}

// deliverMalformed sends what cannot be carried out: a signal is counted and
// shown, an update answered, and nothing changes.
func (r *rig) deliverMalformed(w courier) {
	before := r.await(w.name, "its status", func(workflows.Status) bool { return true })
	refused, carried := before.Refused, before.Orders
	for _, l := range malformedLetters() {
		if w.name == "starter" && l.args == nil {
			continue // cannot be said on its command line
		}
		out, err := w.send(r, w.name, l.message, l.input, l.args)
		switch {
		case l.carried && err == nil:
			carried++
		case w.answers && (err == nil || !strings.Contains(out, l.refused)):
			r.t.Errorf("%s: no %q: %v\n%.500s", l.reason, l.refused, err, out)
		case !w.answers && err != nil:
			r.t.Errorf("%s: %v\n%.500s", l.reason, err, out)
		case !w.answers:
			refused++
			s := r.await(w.name, l.reason+": the refused signal", func(s workflows.Status) bool { return s.Refused == refused })
			last := s.Rejected[len(s.Rejected)-1]
			if text := last.Message + " " + last.Problems[0].String(); !strings.Contains(text, l.refused) {
				r.t.Errorf("%s: %q is not shown in %q", l.reason, l.refused, text)
			}
		}
	}
	if !w.answers {
		refused += r.noJSON(w)
	}
	s := r.await(w.name, "all orders", func(s workflows.Status) bool { return s.Orders == carried && s.Refused == refused })
	if s.Pause != nil || s.Override != nil || len(s.Set) != 2 {
		r.t.Errorf("something malformed was carried out: %+v %+v %v", s.Pause, s.Override, s.Set)
	}
}

// noJSON sends what is no JSON at all; it gives how many signals are refused by
// the job. tctl refuses to send it.
func (r *rig) noJSON(w courier) int {
	r.t.Helper()
	if w.name == "tctl" {
		if out, err := w.send(r, w.name, workflows.MsgPause, "by ann", nil); err == nil || !strings.Contains(out, "not valid JSON") {
			r.t.Errorf("tctl sent what is no JSON: %v\n%s", err, out)
		}
		return 0
	}
	r.temporal("workflow", "signal", "--workflow-id", "flink/dev/"+w.name, "--name", workflows.MsgPause, "--input", "by ann", "--input-meta", "encoding=binary/plain")
	return 1
}

// twoAtOnce: people who do not know of each other. The last one's order holds,
// all are in the history, and one that comes twice has one effect.
func (r *rig) twoAtOnce(job string) {
	before := r.await(job, "its status", func(workflows.Status) bool { return true })
	var all sync.WaitGroup
	people := []string{"ann", "bob", "eve"}
	for i, who := range people {
		all.Go(func() {
			if out, err := r.command(bin.starter, "pause", "dev/"+job, "--by", who, "--for", fmt.Sprintf("%dh", i+1)); err != nil {
				r.t.Errorf("pause by %s: %v\n%s", who, err, out)
			}
		})
	}
	all.Wait()
	s := r.await(job, "all of them", func(s workflows.Status) bool { return s.Orders == before.Orders+len(people) })
	open := 0
	named := map[string]bool{}
	for _, o := range r.history(job).Orders {
		if o.Message != workflows.MsgPause {
			continue
		}
		named[o.By] = true
		if o.Ended == "" {
			open++
			if o.By != s.Pause.By || !o.Until.Equal(s.Pause.Until) {
				r.t.Errorf("in force is the pause by %s until %s, by the history that by %s until %s", s.Pause.By, s.Pause.Until, o.By, o.Until)
			}
		} else if !strings.Contains(o.Ended, "replaced by ") && o.By != job {
			r.t.Errorf("the pause by %s ended %q", o.By, o.Ended)
		}
	}
	if open != 1 || !named["ann"] || !named["bob"] || !named["eve"] {
		r.t.Errorf("%d pauses in force, by %v", open, named)
	}
	for range 3 {
		r.tctl("workflow", "signal", "--wid", "flink/dev/"+job, "--name", workflows.MsgResume, "--input", `{"id": "once", "by": "ann"}`)
	}
	r.tctl("workflow", "signal", "--wid", "flink/dev/"+job, "--name", workflows.MsgPause, "--input", `{"id": "last", "by": "bob"}`)
	s = r.await(job, "the last one", func(s workflows.Status) bool { return s.Pause != nil && s.Pause.By == "bob" })
	if got := s.Orders - before.Orders - len(people); got != 2 {
		r.t.Errorf("a message that came three times and another were carried out as %d", got)
	}
	r.starter("resume", "dev/"+job)
}

// fleetOrders pauses and resumes all jobs of a cluster, found by their ids; other
// workflows with such ids, and those of clusters with such names, are left alone.
func (r *rig) fleetOrders() {
	for id, name := range map[string]string{"flink/dev/decoy": "SomethingElse", "flink/dev-2/orders": workflows.ScaleName} {
		_, err := r.Client.ExecuteWorkflow(r.t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: "nobody"}, name)
		must(r.t, err)
		defer func() { must(r.t, r.Client.TerminateWorkflow(r.t.Context(), id, "", "test")) }()
	}
	jobs := len(couriers())
	var given []struct{ Job, Result, Note string }
	preview := func() int {
		given = nil
		must(r.t, json.Unmarshal([]byte(r.starter("pause", "--cluster", "dev", "--dry-run", "-o", "json")), &given))
		return len(given)
	}
	for deadline := time.Now().Add(patience); preview() != jobs; {
		if time.Now().After(deadline) {
			r.t.Fatalf("%d jobs are found, want %d: %v", len(given), jobs, given)
		}
	}
	if out, err := r.command(bin.starter, "pause", "--cluster", "dev"); err == nil || !strings.Contains(out, fmt.Sprintf("pause of %d jobs asks", jobs)) {
		r.t.Errorf("nobody was asked: %v\n%s", err, out)
	}
	if out := r.starter("pause", "--cluster", "dev", "--yes", "--by", "ann", "--reason", "network", "--for", "1h"); !strings.Contains(out, fmt.Sprintf("%d jobs, %d done", jobs, jobs)) {
		r.t.Errorf("pause says\n%s", out)
	}
	for _, w := range couriers() {
		s := r.await(w.name, "the pause of the cluster", func(s workflows.Status) bool { return s.Pause != nil && s.State == workflows.Paused })
		if s.Pause.By != "ann" || s.Pause.Reason != "network" || s.Pause.Until.IsZero() {
			r.t.Errorf("%s is paused as %+v", w.name, s.Pause)
		}
	}
	if out := r.starter("list", "--cluster", "dev", "--state", "paused"); strings.Count(out, "dev/") != jobs {
		r.t.Errorf("the list shows\n%s", out)
	}
	// The one on a task queue without a worker cannot answer, and is named.
	out, err := r.command(bin.starter, "resume", "--all", "--yes", "--timeout", "3s")
	if err == nil || !strings.Contains(out, fmt.Sprintf("%d done, 1 failed", jobs)) || !strings.Contains(out, "dev-2/orders") {
		r.t.Errorf("resume of all: %v\n%s", err, out)
	}
	for _, w := range couriers() {
		r.await(w.name, "the end of the pause", func(s workflows.Status) bool { return s.Pause == nil })
	}
	if out, err := r.command(bin.starter, "pause", "--cluster", "de", "--yes"); err == nil || !strings.Contains(out, "no job is managed on cluster de") {
		r.t.Errorf("pause of a cluster that is none: %v\n%s", err, out)
	}
}

// unharmed: whatever came, no task of the workflow failed, and it goes on.
func (r *rig) unharmed(job string) {
	r.t.Helper()
	s := r.await(job, "its status", func(workflows.Status) bool { return true })
	r.await(job, "further cycles", func(now workflows.Status) bool { return now.Cycle > s.Cycle+2 })
	history := r.Client.GetWorkflowHistory(r.t.Context(), spec.ID(core.JobKey{Cluster: "dev", Job: job}), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events := 0; ; events++ {
		if !history.HasNext() {
			if events < 100 {
				r.t.Errorf("%s: only %d events", job, events)
			}
			return
		}
		e, err := history.Next()
		must(r.t, err)
		if e.GetEventType() == enums.EVENT_TYPE_WORKFLOW_TASK_FAILED {
			r.t.Errorf("%s: a task failed: %v", job, e.GetWorkflowTaskFailedEventAttributes())
		}
	}
}
