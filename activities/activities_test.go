package activities_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"

	"flinkscaler/activities"
	"flinkscaler/core"
)

func sizes(a, b int) []core.VertexSize {
	return []core.VertexSize{{ID: source, Parallelism: a}, {ID: slow, Parallelism: b}}
}

func rescaleInput(a, b int) activities.RescaleInput {
	return activities.RescaleInput{Key: key(), Target: target(), JobID: "job-1", DecisionID: "1-1", Attempt: 1, Cause: core.ReasonScaleUp, From: sizes(1, 2), Wanted: sizes(a, b), VerifyTimeout: time.Minute}
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		change func(*platform, *activities.RescaleInput)
		want   core.Reason
	}{
		"well":            {"a healthy job may be changed", func(*platform, *activities.RescaleInput) {}, ""},
		"other job":       {"the decision was for another submission", func(p *platform, _ *activities.RescaleInput) { p.job.ID = "job-2" }, core.ReasonJobRestarted},
		"gone":            {"nothing to change", func(p *platform, _ *activities.RescaleInput) { p.fail["Locate"] = core.ErrNotFound }, core.ReasonJobGone},
		"ambiguous":       {"never guess", func(p *platform, _ *activities.RescaleInput) { p.fail["Locate"] = core.ErrAmbiguous }, core.ReasonJobAmbiguous},
		"not running":     {"a restarting job is left alone", func(p *platform, _ *activities.RescaleInput) { p.status.State = core.JobRestarting }, core.ReasonJobNotRunning},
		"tasks deploying": {"RUNNING is not enough", func(p *platform, _ *activities.RescaleInput) { p.status.Vertices[1].Tasks.Running = 1 }, core.ReasonTasksNotRunning},
		"new vertex":      {"never invent a size", func(_ *platform, in *activities.RescaleInput) { in.Wanted[1].ID = "33333333333333333333333333333333" }, core.ReasonVertexChanged},
		"fewer vertices":  {"the map must be complete", func(_ *platform, in *activities.RescaleInput) { in.Wanted = in.Wanted[:1] }, core.ReasonVertexChanged},
		"above the max":   {"Flink would refuse", func(_ *platform, in *activities.RescaleInput) { in.Wanted[1].Parallelism = 25 }, core.ReasonRefused},
		"not adaptive":    {"no in-place rescale", func(p *platform, _ *activities.RescaleInput) { p.fail["Wanted"] = core.ErrNotAdaptive }, core.ReasonNotAdaptive},
		"unauthorized":    {"asking again is useless", func(p *platform, _ *activities.RescaleInput) { p.fail["Status"] = core.ErrUnauthorized }, core.ReasonUnauthorized},
		"no checkpoints":  {"state would be lost", func(p *platform, _ *activities.RescaleInput) { p.health.Checkpointing = false }, core.ReasonNoCheckpoints},
		"no checkpoints, allowed": {"the policy says so", func(p *platform, in *activities.RescaleInput) {
			p.health.Checkpointing, in.NoCheckpoints = false, true
		}, ""},
		"savepoint": {"one at a time", func(p *platform, _ *activities.RescaleInput) { p.health.SavepointInProgress = true }, core.ReasonBusy},
		"storage down": {"a restart could end the job for good (I13)", func(p *platform, _ *activities.RescaleInput) {
			p.health.LastFailed, p.health.FailureNote = start.Add(time.Second), "java.io.IOException: Could not flush to file"
		}, core.ReasonStorage},
		"storage down, override": {"an override obeys the storage rule (I13)", func(p *platform, in *activities.RescaleInput) {
			p.health.LastFailed, p.health.FailureNote, in.Cause = start.Add(time.Second), "java.io.IOException: Could not flush to file", core.ReasonOverride
		}, core.ReasonStorage},
		"late, up": {"an up may pass while checkpoints are late (I13)", func(p *platform, _ *activities.RescaleInput) { p.health.LastCompleted = start.Add(-time.Hour) }, ""},
		"late, down": {"a down never (I13)", func(p *platform, in *activities.RescaleInput) {
			p.health.LastCompleted, in.Wanted = start.Add(-time.Hour), sizes(1, 1)
		}, core.ReasonCheckpoints},
		"frozen, down": {"frozen metrics are no evidence (I12)", func(p *platform, in *activities.RescaleInput) { p.fresh, in.Wanted = false, sizes(1, 1) }, core.ReasonMetricsFrozen},
		"frozen, up":   {"an up needs no proof of freshness", func(p *platform, _ *activities.RescaleInput) { p.fresh = false }, ""},
		"frozen, override down": {"an override is no strategy decision", func(p *platform, in *activities.RescaleInput) {
			p.fresh, in.Wanted, in.Cause = false, sizes(1, 1), core.ReasonOverride
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, in := newPlatform(), rescaleInput(1, 4)
			tt.change(p, &in)
			got, err := call[activities.Preflight](t, p, activities.NamePreflight, in)
			if err != nil {
				t.Fatal(err)
			}
			if got.Reason != tt.want {
				t.Errorf("%s: reason %q (%s), want %q", tt.reason, got.Reason, got.Note, tt.want)
			}
			if p.writes != 0 {
				t.Errorf("a preflight wrote")
			}
		})
	}
}

func TestPreflightTriesAgainOnWhatMayPass(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{core.ErrNoLeader, core.ErrUnreachable, core.ErrNotReady, core.ErrNotFlink} {
		p := newPlatform()
		p.fail["Status"] = cause
		_, err := call[activities.Preflight](t, p, activities.NamePreflight, rescaleInput(1, 4))
		var app *temporal.ApplicationError
		if !errors.As(err, &app) || app.NonRetryable() || activities.ReasonOf(err, "") != core.ReasonFor(cause) {
			t.Errorf("%v: got %v", cause, err)
		}
	}
}

// TestLowerBoundIsNeverRaised is I7: what is written asks for no more than is
// held as the least.
func TestLowerBoundIsNeverRaised(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	p.held[1].Lower = 2
	up, err := call[activities.Preflight](t, p, activities.NamePreflight, rescaleInput(1, 6))
	if err != nil {
		t.Fatal(err)
	}
	down, err := call[activities.Preflight](t, p, activities.NamePreflight, rescaleInput(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(core.Requirements{{ID: source, Lower: 1, Upper: 1}, {ID: slow, Lower: 2, Upper: 6}}, up.Wish); diff != "" {
		t.Errorf("up (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(core.Requirements{{ID: source, Lower: 1, Upper: 1}, {ID: slow, Lower: 1, Upper: 1}}, down.Wish); diff != "" {
		t.Errorf("down (-want +got):\n%s", diff)
	}
}

func TestApplyWritesOnce(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	in := activities.ApplyInput{Key: key(), Job: p.job, DecisionID: "1-1", Wish: p.held.Want(sizes(1, 4))}
	first, err := call[activities.ApplyResult](t, p, activities.NameApply, in)
	if err != nil || first.Already || p.writes != 1 {
		t.Fatalf("first: %+v, %v, writes %d", first, err, p.writes)
	}
	again, err := call[activities.ApplyResult](t, p, activities.NameApply, in)
	if err != nil || !again.Already || p.writes != 1 {
		t.Errorf("again: %+v, %v, writes %d", again, err, p.writes)
	}
}

// TestALostAnswerIsReadBack is I4: the write was taken, its answer was lost;
// the retry reads first and does not write again.
func TestALostAnswerIsReadBack(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	p.lose = true
	in := activities.ApplyInput{Key: key(), Job: p.job, DecisionID: "1-1", Wish: p.held.Want(sizes(1, 4))}
	if _, err := call[activities.ApplyResult](t, p, activities.NameApply, in); activities.IsFinal(err) || err == nil {
		t.Fatalf("a lost answer gave %v, want an error to retry on", err)
	}
	again, err := call[activities.ApplyResult](t, p, activities.NameApply, in)
	if err != nil || !again.Already || p.writes != 1 {
		t.Errorf("again: %+v, %v, writes %d", again, err, p.writes)
	}
}

func TestApplySaysNoForGood(t *testing.T) {
	t.Parallel()
	for cause, want := range map[error]bool{core.ErrRefused: true, core.ErrNotAdaptive: true, core.ErrNotFound: true, core.ErrUnauthorized: true, core.ErrBusy: false, core.ErrNoLeader: false, core.ErrUnreachable: false} {
		p := newPlatform()
		p.fail["Want"] = cause
		_, err := call[activities.ApplyResult](t, p, activities.NameApply, activities.ApplyInput{Key: key(), Job: p.job, Wish: p.held.Want(sizes(1, 4))})
		if activities.IsFinal(err) != want || activities.ReasonOf(err, "") != core.ReasonFor(cause) {
			t.Errorf("%v: final %v, want %v (%v)", cause, activities.IsFinal(err), want, err)
		}
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		change func(*platform)
		want   core.OutcomeKind
		why    core.Reason
		got    []core.VertexSize
	}{
		"reached":     {"runs at the wanted size", func(*platform) {}, core.Applied, "", sizes(1, 4)},
		"short slots": {"runs at what fits", func(p *platform) { p.slots = 3 }, core.Partial, core.ReasonNotReached, sizes(1, 3)},
		"stuck":       {"Flink took it and did nothing", func(p *platform) { p.stuck = true }, core.Partial, core.ReasonNotReached, sizes(1, 2)},
		"unreachable": {"nothing can be read at the deadline", func(p *platform) { p.fail["Status"] = core.ErrUnreachable }, core.Failed, core.ReasonUnreachable, []core.VertexSize{}},
		"ended":       {"the job did not survive", func(p *platform) { p.status.State = core.JobFailed }, core.Failed, core.ReasonJobNotRunning, sizes(1, 4)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform()
			before := p.status
			wish := p.held.Want(sizes(1, 4))
			if name == "stuck" || name == "short slots" {
				tt.change(p)
			}
			if err := p.Want(t.Context(), p.job, "d1", wish); err != nil {
				t.Fatal(err)
			}
			tt.change(p)
			got, err := call[activities.Verified](t, p, activities.NameVerify, activities.VerifyInput{
				Key: key(), Target: target(), Job: p.job, Wanted: sizes(1, 4), Before: sizes(1, 2), Wish: wish,
				RunningSince: before.RunningSince, Deadline: time.Now().Add(50 * time.Millisecond),
			})
			if err != nil {
				t.Fatal(err)
			}
			if got.Kind != tt.want || got.Reason != tt.why {
				t.Errorf("%s: %s (%s: %s), want %s (%s)", tt.reason, got.Kind, got.Reason, got.Note, tt.want, tt.why)
			}
			if len(tt.got) > 0 {
				if diff := cmp.Diff(tt.got, got.Got); diff != "" {
					t.Errorf("%s: sizes (-want +got):\n%s", tt.reason, diff)
				}
			}
		})
	}
}

func TestObserveSaysWhatIsNotThere(t *testing.T) {
	t.Parallel()
	for cause, want := range map[error]core.Reason{
		core.ErrNotFound: core.ReasonJobGone, core.ErrAmbiguous: core.ReasonJobAmbiguous, core.ErrUnreachable: core.ReasonUnreachable,
		core.ErrNoLeader: core.ReasonNoLeader, core.ErrUnauthorized: core.ReasonUnauthorized, core.ErrNotFlink: core.ReasonNotFlink,
	} {
		p := newPlatform()
		p.fail["Locate"] = cause
		got, err := call[core.Observation](t, p, activities.NameObserve, activities.ObserveInput{Key: key(), Target: target()})
		if err != nil || got.Sample.Fault != want || len(got.Sample.Vertices) != 0 {
			t.Errorf("%v: fault %q, error %v, want %q", cause, got.Sample.Fault, err, want)
		}
	}
}

// TestObserveReadsNoBookOfAConfiguration: what a job brings itself goes into
// every decision and into history.
func TestObserveReadsNoBookOfAConfiguration(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	p.config = map[string]string{"job.autoscaler.vertex.exclude.ids": strings.Repeat("a;", 70_000), "other": strings.Repeat("b", 1<<20)}
	got, err := call[core.Observation](t, p, activities.NameObserve, activities.ObserveInput{Key: key(), Target: target()})
	if err != nil || got.Sample.Fault != core.ReasonPolicyInvalid || got.Config != nil || !strings.Contains(got.Sample.Note, "136 KiB of keys that decisions depend on, at most 128 are read") {
		t.Errorf("fault %q (%s), %d keys, %v", got.Sample.Fault, got.Sample.Note, len(got.Config), err)
	}
}

func TestObserveSendsWhatChanged(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	in := activities.ObserveInput{Key: key(), Target: target()}
	first, err := call[core.Observation](t, p, activities.NameObserve, in)
	if err != nil || first.Topology == nil || first.Digest == "" {
		t.Fatalf("first: %+v, %v", first, err)
	}
	if diff := cmp.Diff(map[string]string{"job.autoscaler.metrics.window": "5 min"}, first.Config); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	in.Digest, in.ConfigDigest = first.Digest, first.ConfigDigest
	second, err := call[core.Observation](t, p, activities.NameObserve, in)
	if err != nil || second.Topology != nil || second.Config != nil || second.Digest != first.Digest {
		t.Errorf("second: %+v, %v", second, err)
	}
}

func TestUnknownClusterIsNamed(t *testing.T) {
	t.Parallel()
	got, err := call[activities.Accepted](t, newPlatform(), activities.NameAccept, activities.AcceptInput{WorkflowID: "flink/prod/orders", Raw: `{"cluster": "prod", "job": "orders"}`})
	if err != nil {
		t.Fatal(err)
	}
	want := []core.Problem{{Path: "cluster", Message: `unknown cluster "prod"; this worker's configuration knows dev`}}
	if diff := cmp.Diff(want, got.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	got, err = call[activities.Accepted](t, newPlatform(), activities.NameAccept, activities.AcceptInput{WorkflowID: "my-id", Raw: `{"cluster": "dev", "job": "orders"}`})
	if err != nil {
		t.Fatal(err)
	}
	want = []core.Problem{{Path: "workflow id", Message: `is "my-id", but for this job it must be "flink/dev/orders"`}}
	if diff := cmp.Diff(want, got.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}
