package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/activities"
	"flinkscaler/adapters/flink"
	"flinkscaler/core"
	"flinkscaler/core/whatif"
	"flinkscaler/internal/flinksim"
)

// asked is what a command line printed.
type asked struct {
	code        int
	out, stderr string
}

func ask(t *testing.T, args ...string) asked {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := execute(t.Context(), append([]string{"evaluate"}, args...), nil, &stdout, &stderr)
	return asked{code, stdout.String(), stderr.String()}
}

// stillOptions are a cluster whose time moves with requests, and by Advance.
func stillOptions() flinksim.Options {
	return flinksim.Options{
		Start: time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC), Tick: 100 * time.Millisecond,
		FetchInterval: 200 * time.Millisecond, CacheTime: -1, Slots: 40,
	}
}

// simulated starts a cluster with the jobs orders and twice "twin", and gives
// the file of a configuration that knows it as dev. Nothing answers as off.
func simulated(t *testing.T) (*flinksim.Cluster, string) {
	t.Helper()
	c := flinksim.New(stillOptions())
	t.Cleanup(c.Close)
	url, err := c.Start()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"orders", "twin", "twin"} {
		c.AddJob(flinksim.JobSpec{Name: name, Load: flinksim.Constant(500)})
	}
	// Flink may answer with what was before for a while after a start.
	c.Advance(time.Minute)
	return c, put(t, "w.yaml", `clusters: {dev: {flink: {url: "`+url+`"}, policy: {job.autoscaler.vertex.max-parallelism: 64}}, off: {flink: {url: "http://127.0.0.1:1"}}}`)
}

// TestEvaluateWrongly: what cannot be answered, with its exit code.
func TestEvaluateWrongly(t *testing.T) {
	t.Parallel()
	_, cfg := simulated(t)
	orders := []string{"-c", cfg, "--cluster", "dev", "--job", "orders"}
	with := func(more ...string) []string { return append(append([]string{}, orders...), more...) }
	bad := put(t, "bad.jsonl", `{"format":"flinkscaler-samples","version":1,"recordedAt":"2026-07-20T12:00:00Z","key":{"cluster":"dev","job":"x"},"target":{}}`+"\n"+
		`{"sample":{"at":"2026-07-20T12:00:00Z","clock":"slow","x":1}}`)
	for name, tt := range map[string]struct {
		reason string
		args   []string
		code   int
		stderr string
	}{
		"nothing":         {"no job is named", []string{"-c", cfg}, 2, "name the job in one way"},
		"two ways":        {"which one is meant", with("--samples", bad), 2, "name the job in one way"},
		"two inputs":      {"a shell split it", []string{"-c", cfg, `{"cluster":`, `"dev"}`}, 2, "an input is one argument, in quotes (see flinkscaler-worker evaluate --help)"},
		"output":          {"known are two", with("-o", "yaml"), 2, `unknown output "yaml"; known are text and json`},
		"every alone":     {"it would have no effect", with("--every", "5s"), 2, "--every needs --for"},
		"every too long":  {"it would be one look", with("--every", "5s", "--for", "4s"), 2, "--every is longer than --for"},
		"every twice":     {"neither loses in silence", with("--every", "3s", "--for", "1m", "--policy", "interval=1s"), 2, "--every 3s and --policy interval=1s both say the time between looks: give one"},
		"every, old name": {"the older prefix is the same key", with("--every", "3s", "--for", "1m", "--policy", "kubernetes.operator.job.autoscaler.interval=1s"), 2, "both say the time between looks"},
		"short":           {"the policy's interval is a minute", with("--for", "4s"), 2, "the policy's interval, 1 min, is longer than --for 4s: give --every"},
		"bare number":     {"of what", with("--for", "5"), 2, "give a unit, such as 5 min"},
		"no key":          {"what to set it to", with("--policy", "interval", "--policy", "x"), 2, `--policy "interval": must be key=value; --policy "x": must be key=value`},
		"bad policy":      {"all of it at once", with("--policy", "metrics.windw=1min", "--policy", "interval=soon", "--policy", "utilization.target=2"), 2, "--policy: 3 problems\n  policy[\"job.autoscaler.interval\"]: not a duration"},
		"no config":       {"it holds the addresses", []string{"--cluster", "dev", "--job", "orders"}, 2, "name the configuration file"},
		"unknown cluster": {"the known ones are told", []string{"-c", cfg, "--cluster", "prod", "--job", "orders"}, 2, `cluster: unknown cluster "prod"; the configuration knows dev, off`},
		"bad input":       {"as the workflow would refuse it", []string{"-c", cfg, `{"cluster": "dev", "jobb": "orders", "policy": {"x": 1}}`}, 2, "the input: 3 problems\n  jobb: unknown field"},
		"no input":        {"the file is not there", []string{"-c", cfg, "--input", "/nowhere.json"}, 2, "/nowhere.json: 1 problem\n  file: cannot be read: no such file or directory"},
		"unreachable":     {"an outage, not a decision", []string{"-c", cfg, "--cluster", "off", "--job", "orders"}, 1, "off/orders cannot be looked at: unreachable: "},
		"no such job":     {"those that run are told", []string{"-c", cfg, "--cluster", "dev", "--job", "ordres"}, 1, "on that cluster run orders, twin"},
		"no such, for":    {"nothing is waited for", []string{"-c", cfg, "--cluster", "dev", "--job", "ordres", "--for", "1h"}, 1, "dev/ordres cannot be looked at: job-gone: "},
		"two of a name":   {"neither is guessed", []string{"-c", cfg, "--cluster", "dev", "--job", "x", "--job-name", "twin"}, 1, "dev/x cannot be looked at: job-ambiguous: "},
		"samples":         {"every problem with line and path", []string{"--samples", bad}, 2, "bad.jsonl: 2 problems\n  line 2: sample.clock: must be a number, or one of missing, stale, incomplete, n/a, got \"slow\"\n  line 2: sample.x: unknown field"},
		"samples, for":    {"a recording is as it is", []string{"--samples", bad, "--for", "1m"}, 2, "--for, --every and --record are for a running job"},
		"record":          {"what is there is not written over", with("--record", bad), 2, "--record: cannot be written: file exists"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ask(t, tt.args...)
			if got.code != tt.code || !strings.Contains(got.stderr, tt.stderr) || got.out != "" {
				t.Errorf("%s: exit code %d, want %d\nstdout: %s\nstderr: %s\nwant in it: %s", tt.reason, got.code, tt.code, got.out, got.stderr, tt.stderr)
			}
		})
	}
}

// TestEvaluateLooksOnce: the plain case says what one look cannot know, and
// nothing is changed, in either form.
func TestEvaluateLooksOnce(t *testing.T) {
	t.Parallel()
	c, cfg := simulated(t)
	file := filepath.Join(t.TempDir(), "orders.jsonl")
	got := ask(t, "-c", cfg, `{"cluster": "dev", "job": "orders"}`, "--record", file)
	for _, want := range []string{"dev/orders, Flink job ", "1 look at ", "hold: stabilizing\n", "note: one look: a rate is the difference of two, and the policy wants samples over 15 min, none of the first 5 min", "give --for 20min", "policy: job.autoscaler.vertex.max-parallelism = 64 (cluster default)"} {
		if got.code != 0 || !strings.Contains(got.out, want) {
			t.Errorf("exit code %d, want %q in\n%s%s", got.code, want, got.out, got.stderr)
		}
	}
	again := ask(t, "--samples", file, "-o", "json", "--policy", "metrics.window=1min")
	var a answer
	if err := json.Unmarshal([]byte(again.out), &a); err != nil || again.code != 0 || again.stderr != "" {
		t.Fatalf("exit code %d, %v: %s%s", again.code, err, again.out, again.stderr)
	}
	if a.Job != "orders" || a.Looks != 1 || a.Decision.Reason != core.ReasonStabilizing || len(a.Text) < 3 || len(a.Policy) < 20 || len(a.Turns) != 1 || len(a.Notes) != 1 {
		t.Errorf("answer %+v", a)
	}
	if w := c.Writes(); len(w) > 0 {
		t.Errorf("requirements were written: %+v", w)
	}
}

// still is a cluster whose time moves by requests and by waiting, and an
// evaluation of its job.
type still struct {
	c        *flinksim.Cluster
	e        *evaluation
	progress bytes.Buffer
	// waited is called with each wait, before time moves.
	waited func(n int)
	waits  int
}

func newStill(t *testing.T, span time.Duration, job flinksim.JobSpec, keys map[string]string) *still {
	t.Helper()
	s := &still{c: flinksim.New(stillOptions())}
	t.Cleanup(s.c.Close)
	url, err := s.c.Start()
	if err != nil {
		t.Fatal(err)
	}
	job.Name = "orders"
	s.c.AddJob(job)
	platform, err := flink.New(flink.Config{URLs: []string{url}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(platform.Close)
	acts, err := activities.New(activities.Settings{Clusters: map[string]activities.Cluster{"dev": {Platform: platform}}, Now: s.c.Now})
	if err != nil {
		t.Fatal(err)
	}
	s.e = newEvaluation(core.JobKey{Cluster: "dev", Job: "orders"}, sources{commandLine: keys})
	s.e.target = core.Target{Flink: &core.FlinkTarget{JobName: "orders"}}
	s.e.look, s.e.now, s.e.progress, s.e.span = acts.Look, s.c.Now, &s.progress, span
	s.e.wait = func(_ context.Context, d time.Duration) {
		s.waits++
		if s.waited != nil {
			s.waited(s.waits)
		}
		s.c.Advance(d)
	}
	return s
}

func keys(window string) map[string]string {
	return map[string]string{
		"job.autoscaler.metrics.window": window, "job.autoscaler.stabilization.interval": "0 s", "job.autoscaler.interval": "1 min",
		"job.autoscaler.metrics.busy-time.aggregator": "AVG",
	}
}

// TestEvaluateUntilJudged: it looks on until the window is full, and no longer.
func TestEvaluateUntilJudged(t *testing.T) {
	t.Parallel()
	s := newStill(t, time.Hour, flinksim.JobSpec{Load: flinksim.Constant(3500)}, keys("4 min"))
	if err := s.e.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	a := s.e.answer()
	if a.Decision.Verdict != core.Change || a.Decision.Reason != core.ReasonScaleUp || a.Looks < 4 || a.Looks > 7 {
		t.Errorf("%d looks come to %s: %s\n%s", a.Looks, a.Decision.Verdict, a.Decision.Reason, a.text(true))
	}
	if len(a.Turns) != 2 || a.Turns[0].Reason != core.ReasonWindowNotFull || len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "nothing was changed") {
		t.Errorf("turns %+v, notes %q", a.Turns, a.Notes)
	}
	if got := strings.Count(s.progress.String(), "look "); got != a.Looks || strings.Contains(s.progress.String(), "note:") {
		t.Errorf("%d lines for %d looks:\n%s", got, a.Looks, s.progress.String())
	}
	if w := s.c.Writes(); len(w) > 0 {
		t.Errorf("requirements were written: %+v", w)
	}
}

// TestEvaluateWhole: who records wants all of the time, and later faults are a
// part of what is seen.
func TestEvaluateWhole(t *testing.T) {
	t.Parallel()
	s := newStill(t, 6*time.Minute, flinksim.JobSpec{Load: flinksim.Constant(1200)}, keys("2 min"))
	s.e.whole = true
	var recorded []core.Observation
	s.e.record = func(o core.Observation) error { recorded = append(recorded, o); return nil }
	s.waited = func(n int) {
		s.c.SetUnavailable(map[bool]flinksim.Unavailability{true: flinksim.NoLeader, false: flinksim.Available}[n == 3])
	}
	if err := s.e.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.e.looks != 7 || len(recorded) != 7 || recorded[3].Sample.Fault != core.ReasonNoLeader {
		t.Errorf("%d looks, %d recorded\n%s", s.e.looks, len(recorded), s.progress.String())
	}
	if recorded[0].Topology == nil || recorded[1].Topology != nil {
		t.Error("the graph is not recorded once")
	}
}

// TestEvaluateSaysThatTheTimeIsShort before the looking begins, with keys under
// which it is not, and does not set them by itself.
func TestEvaluateSaysThatTheTimeIsShort(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		span   time.Duration
		keys   map[string]string
		want   string
	}{
		"window": {"ten minutes do not fit in three", 3 * time.Minute, keys("10 min"),
			"note: the policy wants samples over 10 min, so a window takes 10m0s and is not full within --for 3min: expect a hold, with the numbers by then\n" +
				"note: on less evidence it would be: --every 30s --policy metrics.window=150s\n"},
		"stabilization": {"a job that has just started is not judged", 5 * time.Minute, map[string]string{"job.autoscaler.metrics.window": "2 min", "job.autoscaler.interval": "30 s"},
			"and is not full within --for 5min: expect a hold, with the numbers by then\n" +
				"note: on less evidence it would be: --policy metrics.window=270s --policy stabilization.interval=0s\n"},
		"meters": {"the meters of Flink reach farther back", time.Minute, keys("10 min"),
			"note: on less evidence it would be: --every 10s --policy metrics.window=50s --policy metrics.busy-time.aggregator=AVG\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStill(t, tt.span, flinksim.JobSpec{Load: flinksim.Constant(1200)}, tt.keys)
			ctx, stop := context.WithCancel(t.Context())
			s.waited = func(int) { stop() }
			if err := s.e.run(ctx); err != nil {
				t.Fatal(err)
			}
			before, _, _ := strings.Cut(s.progress.String(), "look 1 ")
			if !strings.HasSuffix(before, tt.want) {
				t.Errorf("%s: got\n%s", tt.reason, s.progress.String())
			}
			a := s.e.answer()
			if a.Looks != 1 || a.Notes[0] != "interrupted: this is what is known so far" || a.Decision.Verdict != core.Hold {
				t.Errorf("%d looks come to %s with %q", a.Looks, a.Decision.Verdict, a.Notes)
			}
		})
	}
}

// TestEvaluateIsInterruptedInALook: the look that was cut short tells nothing.
func TestEvaluateIsInterruptedInALook(t *testing.T) {
	t.Parallel()
	for _, at := range []int{1, 2} {
		s := newStill(t, time.Hour, flinksim.JobSpec{}, keys("4 min"))
		ctx, stop := context.WithCancel(t.Context())
		look, n := s.e.look, 0
		s.e.look = func(ctx context.Context, in activities.ObserveInput) core.Observation {
			if n++; n == at {
				stop()
			}
			return look(ctx, in)
		}
		err := s.e.run(ctx)
		if at == 1 {
			if err == nil || !strings.Contains(err.Error(), "interrupted before the first look") {
				t.Errorf("the first look: %v", err)
			}
			continue
		}
		if err != nil || s.e.looks != 1 || !s.e.interrupted || s.e.last.Sample.Fault != "" {
			t.Errorf("the second look: %v, %d looks, the last with fault %q", err, s.e.looks, s.e.last.Sample.Fault)
		}
	}
}

// TestEvaluateHoldsForABadJobPolicy: what is wrong without the command line is
// an answer, and no reason to look again.
func TestEvaluateHoldsForABadJobPolicy(t *testing.T) {
	t.Parallel()
	s := newStill(t, time.Hour, flinksim.JobSpec{}, map[string]string{"job.autoscaler.metrics.window": "4 min"})
	look := s.e.look
	s.e.look = func(ctx context.Context, in activities.ObserveInput) core.Observation {
		o := look(ctx, in)
		o.Config, o.ConfigDigest = map[string]string{"job.autoscaler.interval": "soon", "job.autoscaler.x": "1"}, "c"
		return o
	}
	if err := s.e.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.e.failed(); err == nil || !strings.Contains(err.Error(), "the policy of dev/orders: 2 problems\n  policy[") {
		t.Errorf("it ends with %v", err)
	}
	if a := s.e.answer(); a.Looks != 1 || a.Decision.Reason != core.ReasonPolicyInvalid || len(a.Problems) != 2 || strings.Count(a.text(false), "problem: ") != 2 {
		t.Errorf("%d looks:\n%s", a.Looks, a.text(false))
	}
}

// TestEvaluateExitsWithTheClustersPolicy: Flink's own configuration has a bad key;
// what was seen is printed, and the exit code is that of a bad policy.
func TestEvaluateExitsWithTheClustersPolicy(t *testing.T) {
	t.Parallel()
	o := stillOptions()
	o.Config = map[string]string{"job.autoscaler.interval": "soon"}
	c := flinksim.New(o)
	t.Cleanup(c.Close)
	url, err := c.Start()
	if err != nil {
		t.Fatal(err)
	}
	c.AddJob(flinksim.JobSpec{Name: "orders", Load: flinksim.Constant(500)})
	c.Advance(time.Minute)
	cfg := put(t, "w.yaml", `clusters: {dev: {flink: {url: "`+url+`"}}}`)
	got := ask(t, "-c", cfg, "--cluster", "dev", "--job", "orders", "-o", "json")
	var a answer
	if err := json.Unmarshal([]byte(got.out), &a); err != nil || a.Decision.Reason != core.ReasonPolicyInvalid || len(a.Problems) != 1 {
		t.Errorf("%v, %s with %v", err, a.Decision.Reason, a.Problems)
	}
	if got.code != 2 || !strings.Contains(got.stderr, "the policy of dev/orders: 1 problem\n  policy[\"job.autoscaler.interval\"]: ") {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
}

// TestEvaluateRecordsOnWithABadPolicy: all of --for was asked for.
func TestEvaluateRecordsOnWithABadPolicy(t *testing.T) {
	t.Parallel()
	s := newStill(t, 4*time.Minute, flinksim.JobSpec{}, nil)
	s.e.from, s.e.whole = sources{input: map[string]string{"job.autoscaler.interval": "soon"}}, true
	s.e.replay = whatif.NewReplay(s.e.key, s.e.from.layers)
	if err := s.e.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.e.looks != 5 || s.e.last.Decision.Reason != core.ReasonPolicyInvalid {
		t.Errorf("%d looks come to %s", s.e.looks, s.e.last.Decision.Reason)
	}
}

// TestEvaluateEndsWithAFailedLook: nobody answers any more, so there is no
// judgement, and no telling how long one would take.
func TestEvaluateEndsWithAFailedLook(t *testing.T) {
	t.Parallel()
	s := newStill(t, 2*time.Minute, flinksim.JobSpec{Load: flinksim.Constant(1200)}, keys("10 min"))
	s.waited = func(n int) { s.c.SetUnavailable(flinksim.NoLeader) }
	if err := s.e.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	a := s.e.answer()
	if len(a.Notes) != 1 || !strings.HasPrefix(a.Notes[0], "the last look brought nothing to judge: no-leader") {
		t.Errorf("notes %q", a.Notes)
	}
	if err := s.e.failed(); err == nil || !strings.HasPrefix(err.Error(), "dev/orders: the last look failed: no-leader: ") {
		t.Errorf("it ends with %v", err)
	}
}

// TestEvaluateSaysWhyALookTakesLong, once.
func TestEvaluateSaysWhyALookTakesLong(t *testing.T) {
	t.Parallel()
	slow := keys("1 min")
	slow["job.autoscaler.interval"] = "1 s"
	s := newStill(t, 20*time.Second, flinksim.JobSpec{Load: flinksim.Constant(1200)}, slow)
	look := s.e.look
	s.e.look = func(ctx context.Context, in activities.ObserveInput) core.Observation {
		s.c.Advance(5 * time.Second)
		return look(ctx, in)
	}
	if err := s.e.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.progress.String(); s.e.looks < 3 || strings.Count(got, "longer than the 1 s between looks: each waits until Flink has fetched new metrics") != 1 {
		t.Errorf("%d looks:\n%s", s.e.looks, got)
	}
}

// TestReplayEndsAsItsLastLook: exit codes, the note on a cut line, and a note on
// the window only where that is what is missing.
func TestReplayEndsAsItsLastLook(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	whole := string(b)
	lines := strings.SplitAfter(strings.TrimSpace(whole)+"\n", "\n")
	fault := func(reason string) string {
		return `{"job":{},"sample":{"at":"2026-06-01T13:00:00Z","clock":"missing","fault":"` + reason + `","note":"x"}}` + "\n"
	}
	invalid := strings.Replace(whole, `"job.autoscaler.metrics.window":"5 min"`, `"job.autoscaler.metrics.window":"soon"`, 1)
	const short = "the recording ends before its last look can be judged"
	for name, tt := range map[string]struct {
		reason, text   string
		code           int
		stderr, stdout string
		without        string
	}{
		"judged":      {"any decision is right", whole, 0, "", "note: a workflow would begin", "judge"},
		"short":       {"a hold for want of evidence is a decision", lines[0] + lines[1], 0, "", "note: " + short, "nothing to judge"},
		"cut":         {"what is whole is used", strings.TrimSuffix(whole, "\n")[:len(whole)-30], 0, "is cut off and left out", "policy: ", "nothing to judge"},
		"unreachable": {"no judgement", whole + fault("unreachable"), 1, "the last look failed: unreachable: x", "note: the last look brought nothing to judge: unreachable", short},
		"not Flink":   {"likewise", whole + fault("not-flink"), 1, "the last look failed: not-flink: x", "hold: not-flink", short},
		"not running": {"seen, but nothing to judge", whole + fault("job-not-running"), 0, "", "note: the last look brought nothing to judge: job-not-running", short},
		"bad policy":  {"whoever gave it", invalid, 2, "the policy of dev/orders: 1 problem\n  policy[\"job.autoscaler.metrics.window\"]: ", "hold: policy-invalid", short},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ask(t, "--samples", put(t, "x.jsonl", tt.text))
			if got.code != tt.code || !strings.Contains(got.stderr, tt.stderr) || (tt.stderr == "" && got.stderr != "") {
				t.Errorf("%s: exit code %d, want %d; stderr: %swant in it: %s", tt.reason, got.code, tt.code, got.stderr, tt.stderr)
			}
			if !strings.Contains(got.out, tt.stdout) || strings.Contains(got.out, tt.without) {
				t.Errorf("%s: want %q and not %q in\n%s", tt.reason, tt.stdout, tt.without, got.out)
			}
		})
	}
}

// recording is the file that TestReplayARecording judges: a job whose load
// rises from 1500 to 4500 records per second after ten minutes.
const recording = "testdata/orders.jsonl"

// TestReplayARecording: the same file comes to the same text each time, and to
// another with another policy. UPDATE_GOLDEN=1 writes what was got;
// UPDATE_RECORDING=1 looks anew before.
func TestReplayARecording(t *testing.T) {
	t.Parallel()
	if os.Getenv("UPDATE_RECORDING") != "" {
		makeRecording(t)
	}
	for name, args := range map[string][]string{
		"as-recorded": {"--all"},
		"what-if":     {"--policy", "scale-up.max-factor=0.5", "--policy", "job.autoscaler.vertex.max-parallelism=3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ask(t, append([]string{"--samples", recording}, args...)...)
			if got.code != 0 || got.stderr != "" {
				t.Fatalf("exit code %d: %s", got.code, got.stderr)
			}
			file := filepath.Join("testdata", "orders-"+name+".txt")
			if os.Getenv("UPDATE_GOLDEN") != "" {
				if err := writeFile(file, got.out); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file) //nolint:gosec // a test's own file
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.out, "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func makeRecording(t *testing.T) {
	t.Helper()
	load, err := flinksim.ParseLoad("steps:1500x600s,4500x1200s")
	if err != nil {
		t.Fatal(err)
	}
	s := newStill(t, 20*time.Minute, flinksim.JobSpec{Load: load}, nil)
	s.e.whole = true
	_ = os.Remove(recording)
	r, err := newRecorder(recording, whatif.Header{
		RecordedAt: s.c.Now(), Key: s.e.key, Target: s.e.target,
		Input: map[string]string{"job.autoscaler.metrics.window": "5 min", "job.autoscaler.stabilization.interval": "1 min"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	s.e.record = r.look
	if err := s.e.run(t.Context()); err != nil {
		t.Fatal(err)
	}
}
