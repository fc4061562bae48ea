package activities_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/activities"
	"flinkscaler/core"
)

func TestPreflightOnSlotsAndWriters(t *testing.T) {
	t.Parallel()
	forward := func(p *platform) {
		p.status.Topology.Vertices[1].Inputs = []core.Edge{{From: source, Ship: core.ShipForward}}
		p.status.Topology.Vertices[0].Parallelism = 2
		p.run()
	}
	for name, tt := range map[string]struct {
		reason string
		change func(*platform, *activities.RescaleInput)
		want   core.Reason
		note   string
	}{
		"as it was seen": {"nobody wrote in between", func(p *platform, in *activities.RescaleInput) { in.Seen = p.held }, "", ""},
		"foreign upper bound": {"I8: somebody's size is not overwritten", func(p *platform, in *activities.RescaleInput) {
			in.Seen = p.held
			p.held = p.held.Want(sizes(1, 6))
		}, core.ReasonForeignWriter, "slow 2 -> 6"},
		"foreign lower bound": {"I8: nor is somebody's least size", func(p *platform, in *activities.RescaleInput) {
			in.Seen = p.held
			p.held = core.Requirements{{ID: source, Lower: 1, Upper: 1}, {ID: slow, Lower: 2, Upper: 2}}
		}, core.ReasonForeignWriter, "slow at least 1 -> at least 2"},
		"forward edge": {"the edge would break", func(p *platform, in *activities.RescaleInput) {
			forward(p)
			in.From, in.Wanted = sizes(2, 2), sizes(2, 4)
		}, core.ReasonForward, "Source: orders would run at 2 and slow at 4"},
		"forward edge, both": {"equal sizes keep it", func(p *platform, in *activities.RescaleInput) {
			forward(p)
			in.From, in.Wanted = sizes(2, 2), sizes(4, 4)
		}, "", ""},
		"forward edge that is unequal": {"there is nothing left to keep", func(p *platform, _ *activities.RescaleInput) {
			p.status.Topology.Vertices[1].Inputs = []core.Edge{{From: source, Ship: core.ShipForward}}
		}, "", ""},
		"no slot":   {"a restart that could gain nothing", func(p *platform, _ *activities.RescaleInput) { p.free.Free = 0 }, core.ReasonNoSlots, "needs 2 more slots, 0 of 16 are free"},
		"some slot": {"BC-16: a part of it is better than nothing", func(p *platform, _ *activities.RescaleInput) { p.free.Free = 1 }, "", "needs 2 more slots, 1 of 16 are free"},
		"no slot, elastic": {"the cluster starts TaskManagers when it is asked", func(p *platform, _ *activities.RescaleInput) {
			p.free = core.Slots{Elastic: true}
		}, "", ""},
		"no slot, policy": {"something else adds TaskManagers", func(p *platform, in *activities.RescaleInput) {
			p.free.Free, in.NoSlots = 0, true
		}, "", "0 of 16 are free"},
		"no slot, override": {"an order is written, and obeyed when slots come", func(p *platform, in *activities.RescaleInput) {
			p.free.Free, in.Cause = 0, core.ReasonOverride
		}, "", "0 of 16 are free"},
		"no slot, other group returns one": {"what one group gives back another can take", func(p *platform, in *activities.RescaleInput) {
			p.free.Free, p.status.Topology.Vertices[0].SlotGroup, p.status.Topology.Vertices[0].Parallelism = 0, "a", 3
			p.status.Topology.Vertices[1].SlotGroup = "b"
			p.run()
			in.From, in.Wanted = sizes(3, 2), sizes(2, 5)
		}, "", "needs 3 more slots"},
		"no slot, down": {"getting smaller needs none", func(p *platform, in *activities.RescaleInput) { p.free.Free, in.Wanted = 0, sizes(1, 1) }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, in := newPlatform(), rescaleInput(1, 4)
			tt.change(p, &in)
			got, err := call[activities.Preflight](t, p, activities.NamePreflight, in)
			if err != nil || got.Reason != tt.want || !strings.Contains(got.Note, tt.note) || p.writes != 0 {
				t.Errorf("%s: %q (%s), %v, want %q (%s)", tt.reason, got.Reason, got.Note, err, tt.want, tt.note)
			}
		})
	}
}

func TestHowLongASizeMayTake(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		given  time.Duration
		waits  core.Waits
		rest   []core.Restart
		want   time.Duration
		why    string
	}{
		"Flink's defaults":      {"130 s of waits, two unknown restarts, 30 s", 0, newPlatform().waits, nil, 280 * time.Second, "not measured yet"},
		"measured":              {"the slower of both restarts counts", 0, newPlatform().waits, []core.Restart{{Took: 10 * time.Second}, {Took: 5 * time.Second}}, 180 * time.Second, "twice a restart of 10s (measured)"},
		"rare checkpoints":      {"Flink waits for the next one", 0, core.Waits{MaxDelay: 90 * time.Minute}, []core.Restart{{Took: time.Second}}, 90*time.Minute + 32*time.Second, "a checkpoint 1h30m0s"},
		"checkpoints on demand": {"not for ever", 0, core.Waits{MaxDelay: 24 * time.Hour, Cooldown: time.Minute}, nil, 24 * time.Hour, ""},
		"said":                  {"the policy's word", 10 * time.Minute, newPlatform().waits, nil, 10 * time.Minute, "as the policy says"},
		"said too short":        {"the policy's word, and what it means", time.Minute, newPlatform().waits, nil, time.Minute, "although Flink by its options may need 2m10s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, in := newPlatform(), rescaleInput(1, 4)
			p.waits, in.VerifyTimeout, in.Restarts = tt.waits, tt.given, tt.rest
			got, err := call[activities.Preflight](t, p, activities.NamePreflight, in)
			if err != nil || got.VerifyFor != tt.want || !strings.Contains(got.VerifyWhy, tt.why) {
				t.Errorf("%s: %s (%s), %v, want %s (%s)", tt.reason, got.VerifyFor, got.VerifyWhy, err, tt.want, tt.why)
			}
		})
	}
}

// TestVerifyCallsForUndo: what is not well after a change is to be undone, and
// nothing else is.
func TestVerifyCallsForUndo(t *testing.T) {
	t.Parallel()
	failed := func(p *platform, ago ...time.Duration) {
		for _, d := range ago {
			p.health.Errors = append(p.health.Errors, p.status.Now.Add(-d))
		}
		p.health.LastError, p.health.LastErrorNote = p.health.Errors[0], "Insufficient number of network buffers"
	}
	for name, tt := range map[string]struct {
		reason string
		change func(*platform)
		kind   core.OutcomeKind
		why    core.Reason
		undo   bool
		note   string
	}{
		"well": {"it runs", func(*platform) {}, core.Applied, "", false, ""},
		"failed once, calm since": {"a failure on the way is told", func(p *platform) {
			p.status.Now = p.status.Now.Add(time.Minute)
			failed(p, 40*time.Second)
		}, core.Applied, "", false, "network buffers"},
		"failed just now": {"running for a moment proves nothing (BC-18)", func(p *platform) {
			p.status.Now = p.status.Now.Add(time.Minute)
			failed(p, time.Second)
		}, core.Failed, core.ReasonJobFailing, true, "network buffers"},
		"fails again and again": {"BC-18, before the deadline", func(p *platform) {
			p.status.Now, p.status.State = p.status.Now.Add(4*time.Minute), core.JobRestarting
			failed(p, time.Second, time.Minute, 2*time.Minute)
		}, core.Failed, core.ReasonJobFailing, true, "3 failures"},
		"failed before the change": {"not its fault", func(p *platform) { failed(p, time.Second, time.Minute, 2*time.Minute) }, core.Applied, "", false, ""},
		"smaller than before":      {"less than there was", func(p *platform) { p.slots = 1; p.rescale() }, core.Failed, core.ReasonBelowBefore, true, "slow runs at 1, before the change it ran at 2"},
		"partly":                   {"more than there was", func(p *platform) { p.slots = 3; p.rescale() }, core.Partial, core.ReasonNotReached, false, "0 of 1"},
		"partly, no slots":         {"BC-16: the reason is known", func(p *platform) { p.slots, p.free.Free = 3, 0; p.rescale() }, core.Partial, core.ReasonNoSlots, false, "none of the cluster's 16 slots is free"},
		"down":                     {"an alarm, and a way back", func(p *platform) { p.status.State = core.JobCreated }, core.Failed, core.ReasonTasksNotRunning, true, ""},
		"ended":                    {"there is nothing to go back to", func(p *platform) { p.status.State = core.JobFailed }, core.Failed, core.ReasonJobNotRunning, false, ""},
		"down, somebody else's":    {"not ours to undo", func(p *platform) { p.status.State, p.held = core.JobCreated, p.held.Want(sizes(1, 9)) }, core.Failed, core.ReasonTasksNotRunning, false, "slow 4 -> 9"},
		"forgotten": {"I4: a JobManager without HA was lost, and runs it as it was submitted; nobody else wrote", func(p *platform) {
			p.status.StartedAt, p.held = p.status.Now.Add(time.Second), p.held.Want(sizes(1, 1))
		}, core.Failed, core.ReasonJobRestarted, false, "knows nothing of what was asked"},
		"taken over":  {"with HA the next JobManager knows what was asked", func(p *platform) { p.status.StartedAt = p.status.Now.Add(time.Second) }, core.Applied, "", false, ""},
		"unreachable": {"nothing is known, so nothing is done", func(p *platform) { p.fail["Status"] = core.ErrUnreachable }, core.Failed, core.ReasonUnreachable, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform()
			in := verifyInput(p, time.Millisecond)
			in.Since = start
			if err := p.Want(t.Context(), p.job, "d1", in.Wish); err != nil {
				t.Fatal(err)
			}
			tt.change(p)
			got, err := call[activities.Verified](t, p, activities.NameVerify, in)
			if err != nil || got.Kind != tt.kind || got.Reason != tt.why || (got.Undo != "") != tt.undo || !strings.Contains(got.Note, tt.note) {
				t.Errorf("%s: %+v, %v", tt.reason, got, err)
			}
		})
	}
}

// TestASizeHasToStand: a job that only just runs, or failed on the way, is
// watched for a while before its size is believed.
func TestASizeHasToStand(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		failed time.Duration // before the first look, 0 for never
		least  time.Duration
		most   time.Duration
	}{
		"only just runs":     {"Flink may show a copy", 0, 3 * time.Second, 4 * time.Second},
		"failed on the way":  {"it may fail again", 10 * time.Second, 20 * time.Second, 26 * time.Second},
		"failed a while ago": {"that is over", 40 * time.Second, 3 * time.Second, 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPlatform()
				in := verifyInput(p, time.Hour)
				began := time.Now()
				in.Since, in.RunningSince = began.Add(-time.Minute), began.Add(-time.Minute)
				if err := p.Want(t.Context(), p.job, "d1", in.Wish); err != nil {
					t.Fatal(err)
				}
				p.status.RunningSince = began
				if tt.failed > 0 {
					p.health.LastError = began.Add(-tt.failed)
					p.health.Errors = []time.Time{p.health.LastError}
				}
				o := odd{platform: p, status: func(ctx context.Context) (core.JobStatus, error) {
					p.status.Now = time.Now()
					return p.Status(ctx, p.job)
				}}
				env := oddEnvironment(t, o, finder{})
				env.SetTestTimeout(2 * time.Hour)
				v, err := env.ExecuteActivity(activities.NameVerify, in)
				if err != nil {
					t.Fatal(err)
				}
				var got activities.Verified
				took := time.Since(began)
				if err := v.Get(&got); err != nil || got.Kind != core.Applied || took < tt.least || took > tt.most {
					t.Errorf("%s: %+v, %v after %s", tt.reason, got, err, took)
				}
			})
		})
	}
}

// TestAnUndoIsNotBlamed: what failed at the size that is undone says nothing of
// the size before; what fails at that one does.
func TestAnUndoIsNotBlamed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		failed time.Duration // before the job ran again, negative for after
		times  int           // in a row, 100 ms apart
		want   core.OutcomeKind
	}{
		"before it ran again":       {"the other size failed", time.Second, 1, core.Applied},
		"since":                     {"this one fails, too", -time.Second, 1, core.Failed},
		"again and again before":    {"the other size went on failing until the write reached Flink", time.Second, 4, core.Applied},
		"again and again, and then": {"this one fails as often", -time.Second, 4, core.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform()
			in := verifyInput(p, time.Millisecond)
			in.Since, in.Undoing = start, true
			if err := p.Want(t.Context(), p.job, "d1", in.Wish); err != nil {
				t.Fatal(err)
			}
			p.status.RunningSince, p.status.Now = start.Add(5*time.Second), start.Add(10*time.Second)
			p.health.LastError = p.status.RunningSince.Add(-tt.failed)
			for i := range tt.times {
				p.health.Errors = append(p.health.Errors, p.health.LastError.Add(-time.Duration(i)*100*time.Millisecond))
			}
			got, err := call[activities.Verified](t, p, activities.NameVerify, in)
			if err != nil || got.Kind != tt.want || strings.Contains(got.Note, "on the way") {
				t.Errorf("%s: %+v, %v", tt.reason, got, err)
			}
		})
	}
}

// TestRestartLoopEndsTheWait is BC-17: nothing is in the list of failures, but
// the job never comes to rest. Restarts that bring it nearer to its size, as
// when TaskManagers come one by one, are no loop.
func TestRestartLoopEndsTheWait(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		sizes  []int // of the slow vertex after each restart
		every  time.Duration
		kind   core.OutcomeKind
		why    core.Reason
		looks  int
	}{
		"loop":          {"1 -> 2 and back, again and again", []int{2, 2, 2, 2, 2, 2, 2, 2}, time.Minute, core.Failed, core.ReasonRestartLoop, 4},
		"slowly":        {"a restart every four minutes is bad luck", []int{2, 2, 2, 2, 2, 2, 2, 4}, 4 * time.Minute, core.Applied, "", 8},
		"slots arrive":  {"each brings it nearer", []int{2, 3, 3, 3, 4}, time.Minute, core.Applied, "", 5},
		"growing again": {"a better size begins the row anew", []int{2, 2, 2, 3, 3, 3, 4}, time.Minute, core.Applied, "", 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPlatform()
				in := verifyInput(p, time.Hour)
				in.Since = start
				p.held = in.Wish
				looks := 0
				o := odd{platform: p, status: func(ctx context.Context) (core.JobStatus, error) {
					p.status.Topology.Vertices[1].Parallelism = tt.sizes[min(looks, len(tt.sizes)-1)]
					p.status.RunningSince = in.RunningSince.Add(time.Duration(looks+1) * tt.every)
					p.run()
					looks++
					return p.Status(ctx, p.job)
				}}
				env := oddEnvironment(t, o, finder{})
				env.SetTestTimeout(2 * time.Hour)
				v, err := env.ExecuteActivity(activities.NameVerify, in)
				if err != nil {
					t.Fatal(err)
				}
				var got activities.Verified
				if err := v.Get(&got); err != nil || got.Kind != tt.kind || got.Reason != tt.why || looks != tt.looks {
					t.Errorf("%s: %+v, %v after %d looks, want %d", tt.reason, got, err, looks, tt.looks)
				}
			})
		})
	}
}

func TestCheckUndo(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		change func(*platform)
		want   core.Reason
		note   string
	}{
		"well":    {"the way back is free", func(*platform) {}, "", ""},
		"down":    {"that is what it is for", func(p *platform) { p.status = core.JobStatus{ID: "job-1", State: core.JobRestarting, Now: start} }, "", ""},
		"foreign": {"somebody saw to it already (I8)", func(p *platform) { p.held = p.held.Want(sizes(1, 3)) }, core.ReasonForeignWriter, "slow 4 -> 3"},
		"new job": {"another submission is another job", func(p *platform) { p.job.ID = "job-2" }, core.ReasonJobRestarted, "job-2"},
		"gone":    {"nothing to undo", func(p *platform) { p.fail["Locate"] = core.ErrNotFound }, core.ReasonJobGone, ""},
		"late":    {"I13: it may go down although checkpoints are late", func(p *platform) { p.health.LastCompleted = start.Add(-time.Hour) }, "", "no checkpoint completed for 1h0m0s"},
		"no store": {"I13: a restart could end the job for good", func(p *platform) {
			p.health.LastFailed, p.health.FailureNote = start.Add(time.Second), "java.io.IOException: x"
		}, core.ReasonStorage, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform()
			wish := core.Requirements{{ID: source, Lower: 1, Upper: 1}, {ID: slow, Lower: 2, Upper: 4}}
			p.held = wish
			tt.change(p)
			got, err := call[activities.Preflight](t, p, activities.NameCheckUndo, activities.UndoInput{Key: key(), Target: target(), Job: core.JobRef{ID: "job-1"}, Wish: wish, Back: sizes(1, 2)})
			if err != nil || got.Reason != tt.want || !strings.Contains(got.Note, tt.note) || p.writes != 0 {
				t.Fatalf("%s: %q (%s), %v", tt.reason, got.Reason, got.Note, err)
			}
			if tt.want != "" {
				return
			}
			back := core.Requirements{{ID: source, Lower: 1, Upper: 1}, {ID: slow, Lower: 2, Upper: 2}}
			if diff := cmp.Diff(back, got.Wish); diff != "" || got.VerifyFor == 0 {
				t.Errorf("wish (-want +got), verify for %s:\n%s", got.VerifyFor, diff)
			}
		})
	}
}

// TestObserveSaysWhatIsWanted: nothing where the job runs at what is wanted of
// it, so that an idle cycle costs no more.
func TestObserveSaysWhatIsWanted(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		change func(*platform)
		asked  bool
		want   core.Requirements
	}{
		"as wanted":   {"nothing to tell", func(*platform) {}, true, nil},
		"degraded":    {"BC-40: it wants 10 and runs at 2", func(p *platform) { p.held[1].Upper = 10 }, true, core.Requirements{{ID: slow, Lower: 1, Upper: 10}}},
		"lower bound": {"it matters at the next failure", func(p *platform) { p.held[1].Lower = 2 }, true, core.Requirements{{ID: slow, Lower: 2, Upper: 2}}},
		"no answer":   {"not known is not none", func(p *platform) { p.fail["Wanted"] = core.ErrNotAdaptive }, false, nil},
		"not running": {"what runs is not known", func(p *platform) { p.status.State = core.JobRestarting }, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform()
			tt.change(p)
			got, err := call[core.Observation](t, p, activities.NameObserve, activities.ObserveInput{Key: key(), Target: target()})
			if diff := cmp.Diff(tt.want, got.Sample.Wanted); err != nil || diff != "" || got.Sample.Asked != tt.asked {
				t.Errorf("%s: asked %v, %v (-want +got):\n%s", tt.reason, got.Sample.Asked, err, diff)
			}
		})
	}
}

// TestObserveMeasuresTheStateWhenAsked: two requests more, so only then; a state
// that cannot be read is not known, and nothing else is lost with it.
func TestObserveMeasuresTheStateWhenAsked(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		ask    bool
		fail   error
		want   core.Reading
	}{
		"asked":     {"by the newest checkpoint", true, nil, core.Read(123)},
		"not asked": {"nobody needs it", false, nil, core.Reading{}},
		"no answer": {"not known", true, core.ErrUnreachable, core.Reading{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform()
			p.health.StateSize, p.fail["Inspect"] = core.Read(123), tt.fail
			got, err := call[core.Observation](t, p, activities.NameObserve, activities.ObserveInput{Key: key(), Target: target(), StateSize: tt.ask})
			if err != nil || got.Sample.Global.StateSize != tt.want || got.Sample.Fault != "" {
				t.Errorf("%s: %v, %s, want %s; fault %q", tt.reason, err, got.Sample.Global.StateSize, tt.want, got.Sample.Fault)
			}
		})
	}
}
