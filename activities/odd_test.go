package activities_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"flinkscaler/activities"
	"flinkscaler/core"
)

// odd is a platform whose answers a test may bend further.
type odd struct {
	*platform
	status func(context.Context) (core.JobStatus, error)
	wanted func() (core.Requirements, error)
}

func (o odd) Status(ctx context.Context, job core.JobRef) (core.JobStatus, error) {
	if o.status != nil {
		return o.status(ctx)
	}
	return o.platform.Status(ctx, job)
}

func (o odd) Wanted(ctx context.Context, job core.JobRef) (core.Requirements, error) {
	if o.wanted != nil {
		return o.wanted()
	}
	return o.platform.Wanted(ctx, job)
}

// finder answers Await as it is told.
type finder struct {
	await func(context.Context) (core.Outcome, error)
}

func (finder) Find(context.Context, activities.FindRescaleInput) (activities.FoundRescale, error) {
	return activities.FoundRescale{}, nil
}

func (f finder) Await(ctx context.Context, _ activities.AwaitRescaleInput) (core.Outcome, error) {
	return f.await(ctx)
}

func oddEnvironment(t *testing.T, p activities.Platform, f activities.RescaleFinder) *testsuite.TestActivityEnvironment {
	t.Helper()
	a, err := activities.New(activities.Settings{Clusters: map[string]activities.Cluster{"dev": {Platform: p}}, Temporal: f, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	env := suite.NewTestActivityEnvironment()
	a.Register(env)
	return env
}

func verifyInput(p *platform, within time.Duration) activities.VerifyInput {
	return activities.VerifyInput{
		Key: key(), Target: target(), Job: p.job, Wanted: sizes(1, 4), Before: sizes(1, 2), Wish: p.held.Want(sizes(1, 4)),
		RunningSince: p.status.RunningSince, Deadline: time.Now().Add(within),
	}
}

// TestVerifyIsAliveDuringAReadThatHangs: a standby JobManager takes longer to
// fail than the heartbeat time-out allows; Verify would be timed out again and
// again, and never come to the verdict at its deadline.
func TestVerifyIsAliveDuringAReadThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlatform()
		var beats, during atomic.Int32
		o := odd{platform: p, status: func(ctx context.Context) (core.JobStatus, error) {
			before := beats.Load()
			time.Sleep(40 * time.Second) // the bubble's time
			synctest.Wait()
			during.Store(beats.Load() - before)
			return core.JobStatus{}, core.ErrUnreachable
		}}
		env := oddEnvironment(t, o, finder{})
		env.SetTestTimeout(time.Hour)
		env.SetOnActivityHeartbeatListener(func(*activity.Info, converter.EncodedValues) { beats.Add(1) })
		v, err := env.ExecuteActivity(activities.NameVerify, verifyInput(p, 30*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		var got activities.Verified
		if err := v.Get(&got); err != nil || got.Kind != core.Failed || got.Reason != core.ReasonUnreachable {
			t.Errorf("verdict %+v, %v", got, err)
		}
		if during.Load() == 0 {
			t.Error("no heartbeat in 40 s of hanging")
		}
	})
}

// TestLongWaitsAreHandedOver: a worker that shuts down lets another go on,
// instead of holding the wait until its stop time-out.
func TestLongWaitsAreHandedOver(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]any{
		activities.NameVerify:       verifyInput(newPlatform(), time.Hour),
		activities.NameAwaitRescale: activities.AwaitRescaleInput{RescaleID: "r"},
	} {
		stop := make(chan struct{})
		f := finder{func(ctx context.Context) (core.Outcome, error) {
			close(stop)
			<-ctx.Done()
			return core.Outcome{}, ctx.Err()
		}}
		o := odd{platform: newPlatform()}
		if name == activities.NameVerify {
			o.status = func(ctx context.Context) (core.JobStatus, error) {
				_, err := f.await(ctx)
				return core.JobStatus{}, fmt.Errorf("%w: %w", core.ErrUnreachable, err)
			}
		}
		env := oddEnvironment(t, o, f)
		env.SetWorkerStopChannel(stop)
		_, err := env.ExecuteActivity(name, in)
		var app *temporal.ApplicationError
		if !errors.As(err, &app) || app.NonRetryable() || app.Type() != activities.ErrTypeTryAgain {
			t.Errorf("%s: got %v, want an error to retry on", name, err)
		}
	}
}

func TestAwaitEnds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		err    error
		want   string
	}{
		"deleted": {"asking again would never end, and hold every other rescale", fmt.Errorf("await: %w", core.ErrNotFound), "no longer there"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := oddEnvironment(t, newPlatform(), finder{func(context.Context) (core.Outcome, error) { return core.Outcome{}, tt.err }})
			v, err := env.ExecuteActivity(activities.NameAwaitRescale, activities.AwaitRescaleInput{RescaleID: "r"})
			if err != nil {
				t.Fatalf("%s: %v", tt.reason, err)
			}
			var o core.Outcome
			if err := v.Get(&o); err != nil || o.Kind != core.Failed || !strings.Contains(o.Note, tt.want) {
				t.Errorf("%s: %+v, %v", tt.reason, o, err)
			}
		})
	}
}

// TestSomeoneElsesChangeIsNotOverwritten is I8: what was written between the
// preflight and the write, or between two attempts of the write, stays.
func TestSomeoneElsesChangeIsNotOverwritten(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	in := activities.ApplyInput{Key: key(), Job: p.job, DecisionID: "1-1", Held: p.held, Wish: p.held.Want(sizes(1, 4))}
	p.held = p.held.Want(sizes(1, 7))
	_, err := call[activities.ApplyResult](t, p, activities.NameApply, in)
	if !activities.IsFinal(err) || activities.ReasonOf(err, "") != core.ReasonForeignWriter || p.writes != 0 {
		t.Errorf("error %v, reason %q, writes %d", err, activities.ReasonOf(err, ""), p.writes)
	}
	if diff := cmp.Diff(core.Requirements{{ID: source, Lower: 1, Upper: 1}, {ID: slow, Lower: 1, Upper: 7}}, p.held); diff != "" {
		t.Errorf("held (-want +got):\n%s", diff)
	}
}

// TestNoErrorProvesThatNothingWasWritten is I5: after a write without an
// answer, an error that is final by itself says nothing about that write.
func TestNoErrorProvesThatNothingWasWritten(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason  string
		sent    any
		wanted  error
		foreign bool
		final   bool
		typ     string
	}{
		"nothing sent":       {"the first attempt could not even read", nil, core.ErrNotFound, false, true, activities.ErrTypeGone},
		"known not taken":    {"an earlier attempt was told so", map[string]any{"sent": false}, core.ErrUnauthorized, false, true, activities.ErrTypeUnauthorized},
		"sent, then gone":    {"the write may have ended the job", map[string]any{"sent": true}, core.ErrNotFound, false, false, activities.ErrTypeMaybeWritten},
		"sent, then foreign": {"somebody wrote over it, or instead of it", map[string]any{"sent": true}, nil, true, false, activities.ErrTypeMaybeWritten},
		"sent, no answer":    {"asked again", map[string]any{"sent": true}, core.ErrUnreachable, false, false, activities.ErrTypeTryAgain},
		"unknown details":    {"the careful side", "what", core.ErrNotFound, false, false, activities.ErrTypeMaybeWritten},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform()
			in := activities.ApplyInput{Key: key(), Job: p.job, Held: p.held, Wish: p.held.Want(sizes(1, 4))}
			if tt.foreign {
				p.held = p.held.Want(sizes(1, 7))
			}
			p.fail["Wanted"] = tt.wanted
			env := oddEnvironment(t, p, finder{})
			if tt.sent != nil {
				env.SetHeartbeatDetails(tt.sent)
			}
			_, err := env.ExecuteActivity(activities.NameApply, in)
			var app *temporal.ApplicationError
			if !errors.As(err, &app) || app.Type() != tt.typ || activities.IsFinal(err) != tt.final || p.writes != 0 {
				t.Errorf("%s: %v, final %v, writes %d", tt.reason, err, activities.IsFinal(err), p.writes)
			}
		})
	}
}

// TestALostAnswerIsRemembered: the heartbeat of the attempt that lost its
// answer is what the next one goes by.
func TestALostAnswerIsRemembered(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		err    error
		sent   bool
	}{
		"lost": {"taken or not", core.ErrUnreachable, true},
		"busy": {"Flink says that it was not taken", core.ErrBusy, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform()
			p.fail["Want"] = tt.err
			env := oddEnvironment(t, p, finder{})
			last := map[string]bool{}
			env.SetOnActivityHeartbeatListener(func(_ *activity.Info, v converter.EncodedValues) {
				if err := v.Get(&last); err != nil {
					t.Error(err)
				}
			})
			_, err := env.ExecuteActivity(activities.NameApply, activities.ApplyInput{Key: key(), Job: p.job, Held: p.held, Wish: p.held.Want(sizes(1, 4))})
			if err == nil || last["sent"] != tt.sent {
				t.Errorf("%s: %v, error %v", tt.reason, last, err)
			}
		})
	}
}

func TestPreflightOnOddJobs(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		change func(*platform, *activities.RescaleInput)
		want   core.Reason
		note   string
	}{
		"other size now": {"a TaskManager was lost since: the decision was for another size (BC-40)", func(p *platform, in *activities.RescaleInput) {
			p.status.Topology.Vertices[1].Parallelism, in.Wanted = 1, sizes(1, 3)
			p.run()
		}, core.ReasonVertexChanged, "runs at 1 now"},
		"other size, override": {"an override of one vertex must not undo a change of another", func(p *platform, in *activities.RescaleInput) {
			p.status.Topology.Vertices[0].Parallelism, in.Cause = 5, core.ReasonOverride
			p.run()
		}, core.ReasonVertexChanged, "runs at 5 now"},
		"never completed, young, down": {"the first checkpoint is not due yet", func(p *platform, in *activities.RescaleInput) {
			p.health.LastCompleted, p.status.RunningSince, in.Wanted = time.Time{}, start.Add(-30*time.Second), sizes(1, 1)
		}, "", ""},
		"never completed, old, down": {"all work since the start is at stake (I13)", func(p *platform, in *activities.RescaleInput) {
			p.health.LastCompleted, in.Wanted = time.Time{}, sizes(1, 1)
		}, core.ReasonCheckpoints, "for 1h0m0s"},
		"never completed, failed, down": {"the time in the note is one that a person can believe", func(p *platform, in *activities.RescaleInput) {
			p.health.LastCompleted, p.health.LastFailed, in.Wanted = time.Time{}, start, sizes(1, 1)
		}, core.ReasonCheckpoints, "for 1h0m0s"},
		"never completed, old, up": {"an up may pass while checkpoints are late, and says so (I13)", func(p *platform, _ *activities.RescaleInput) { p.health.LastCompleted = time.Time{} }, "", "for 1h0m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, in := newPlatform(), rescaleInput(1, 4)
			tt.change(p, &in)
			got, err := call[activities.Preflight](t, p, activities.NamePreflight, in)
			if err != nil || got.Reason != tt.want || !strings.Contains(got.Note, tt.note) {
				t.Errorf("%s: %q (%s), %v, want %q (%s)", tt.reason, got.Reason, got.Note, err, tt.want, tt.note)
			}
		})
	}
}

func TestVerifyOnOddJobs(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		change func(*platform)
		within time.Duration
		want   core.OutcomeKind
		why    core.Reason
		note   string
	}{
		"submitted anew": {"the job that was changed is gone for good: no reason to wait for the deadline (BC-24)", func(p *platform) {
			p.fail["Status"], p.job.ID = core.ErrNotFound, "job-2"
		}, time.Hour, core.Failed, core.ReasonJobRestarted, "job-2"},
		"renamed": {"the id is what counts", func(p *platform) {
			p.fail["Locate"], p.status.Name = core.ErrNotFound, "other"
		}, time.Hour, core.Applied, "", ""},
		"changed by somebody else": {"it runs at what another wrote", func(p *platform) {
			p.held = p.held.Want(sizes(1, 7))
			p.rescale()
		}, time.Millisecond, core.Partial, core.ReasonForeignWriter, "slow 4 -> 7"},
		"changed by somebody else, and down": {"an alarm too", func(p *platform) {
			p.held, p.status.State = p.held.Want(sizes(1, 7)), core.JobRestarting
		}, time.Millisecond, core.Failed, core.ReasonTasksNotRunning, "somebody else"},
		"restarting at the deadline": {"an alarm, whatever the sizes say", func(p *platform) { p.status.State = core.JobRestarting }, time.Millisecond, core.Failed, core.ReasonTasksNotRunning, "RESTARTING"},
		"other vertices":             {"never taken for what was wanted", func(p *platform) { p.status.Topology.Vertices[1].ID = "33333333333333333333333333333333" }, time.Millisecond, core.Partial, core.ReasonNotReached, "0 of 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform()
			in := verifyInput(p, tt.within)
			if err := p.Want(t.Context(), p.job, "d1", in.Wish); err != nil {
				t.Fatal(err)
			}
			tt.change(p)
			got, err := call[activities.Verified](t, p, activities.NameVerify, in)
			if err != nil || got.Kind != tt.want || got.Reason != tt.why || !strings.Contains(got.Note, tt.note) {
				t.Errorf("%s: %+v, %v, want %s (%s)", tt.reason, got, err, tt.want, tt.why)
			}
		})
	}
}

// TestAnOutageDoesNotForgetThePolicy: a read that fails says nothing about the
// job's own configuration; forgetting it would switch off its dry-run.
func TestAnOutageDoesNotForgetThePolicy(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"Locate", "Measure"} {
		p := newPlatform()
		p.fail[method] = core.ErrUnreachable
		got, err := call[core.Observation](t, p, activities.NameObserve, activities.ObserveInput{Key: key(), Target: target(), Digest: "d", ConfigDigest: "c"})
		if err != nil || got.Digest != "d" || got.ConfigDigest != "c" {
			t.Errorf("%s: digests %q and %q, error %v", method, got.Digest, got.ConfigDigest, err)
		}
	}
}

// unread is a cluster that does not show a job's configuration.
type unread struct {
	*platform
	config map[string]string
}

func (u unread) Measure(ctx context.Context, job core.JobRef, pick core.Picker) (core.Measurement, error) {
	m, err := u.platform.Measure(ctx, job, pick)
	m.Config = u.config
	return m, err
}

// TestAPolicyThatWasNeverReadHolds: it may say that the job is not to be
// changed.
func TestAPolicyThatWasNeverReadHolds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		known  string
		config map[string]string
		fault  core.Reason
		digest string
	}{
		"never read": {"nobody knows the job's policy", "", nil, core.ReasonUnreachable, ""},
		"read once":  {"the last one known still counts", "c", nil, "", "c"},
		"empty":      {"known to say nothing", "", map[string]string{"rest.port": "8081"}, "", "none"},
		"emptied":    {"what it said is withdrawn", "c", map[string]string{}, "", "none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := oddEnvironment(t, unread{newPlatform(), tt.config}, finder{})
			v, err := env.ExecuteActivity(activities.NameObserve, activities.ObserveInput{Key: key(), Target: target(), ConfigDigest: tt.known})
			if err != nil {
				t.Fatal(err)
			}
			var got core.Observation
			if err := v.Get(&got); err != nil || got.Sample.Fault != tt.fault || got.ConfigDigest != tt.digest || len(got.Config) != 0 {
				t.Errorf("%s: fault %q (%s), digest %q, config %v, %v", tt.reason, got.Sample.Fault, got.Sample.Note, got.ConfigDigest, got.Config, err)
			}
		})
	}
}

// TestALongVertexNameIsCut is I10: 300 of them are kept.
func TestALongVertexNameIsCut(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	p.status.Topology.Vertices[1].Name = strings.Repeat("map -> ", 1000)
	got, err := call[core.Observation](t, p, activities.NameObserve, activities.ObserveInput{Key: key(), Target: target()})
	if err != nil || got.Topology == nil || len(got.Topology.Vertices[1].Name) > 500 {
		t.Errorf("%+v, %v", got.Topology, err)
	}
}
