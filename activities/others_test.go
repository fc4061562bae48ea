package activities_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"flinkscaler/activities"
	"flinkscaler/core"
)

// others is a platform on which others than Flink have a say.
type others struct {
	*platform
	rivals  []core.Rival
	carried core.Carried
	room    core.Room
	trimmed string
	broken  error // of all four
	// asked are the requirements that Fits was asked for.
	asked core.Requirements
}

func (o *others) Rivals(context.Context, core.JobRef) ([]core.Rival, error) {
	return o.rivals, o.broken
}

func (o *others) Carried(context.Context, core.JobRef, core.Requirements) (core.Carried, error) {
	return o.carried, o.broken
}

func (o *others) Fits(_ context.Context, _ core.JobRef, r core.Requirements) (core.Room, error) {
	o.asked = r
	return o.room, o.broken
}

func (o *others) Trim(context.Context, core.JobRef, string) (string, error) {
	return o.trimmed, o.broken
}

// ask runs an activity beside others.
func ask[T any](t *testing.T, o *others, name string, in any) (T, error) {
	t.Helper()
	return run[T](t, activities.Cluster{Platform: o.platform, Rivals: o, Carrier: o, Room: o, Trimmer: o}, name, in)
}

// run runs an activity on a cluster.
func run[T any](t *testing.T, c activities.Cluster, name string, in any) (T, error) {
	t.Helper()
	var out T
	a, err := activities.New(activities.Settings{Clusters: map[string]activities.Cluster{"dev": c}, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	a.Register(env)
	v, err := env.ExecuteActivity(name, in)
	if err != nil {
		return out, err
	}
	if err := v.Get(&out); err != nil {
		t.Fatal(err)
	}
	return out, nil
}

func hpa() core.Rival {
	return core.Rival{Kind: "HorizontalPodAutoscaler", Name: "orders", What: "scales the same TaskManagers; delete it"}
}

func vpa() core.Rival {
	return core.Rival{Kind: "VerticalPodAutoscaler", Name: "orders", What: "evicts TaskManagers", Warning: true}
}

// TestPreflightBesideOthers: nothing is written that somebody else would take
// back, that has no safe way, or that has no room.
func TestPreflightBesideOthers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		change func(*others, *activities.RescaleInput)
		want   core.Reason
		note   string
		longer bool
	}{
		"nobody": {"all is well", func(*others, *activities.RescaleInput) {}, "", "", false},
		"rival":  {"I8: it is named and not fought", func(o *others, _ *activities.RescaleInput) { o.rivals = []core.Rival{vpa(), hpa()} }, core.ReasonRival, "HorizontalPodAutoscaler orders: scales", false},
		"rival of an override": {"I8: an order would be fought about, too", func(o *others, in *activities.RescaleInput) {
			o.rivals, in.Cause = []core.Rival{hpa()}, core.ReasonOverride
		}, core.ReasonRival, "delete it", false},
		"rival of an undo": {"I8: nor is it taken back from another", func(o *others, in *activities.RescaleInput) {
			o.rivals, in.Cause = []core.Rival{hpa()}, core.ReasonUndo
		}, core.ReasonRival, "delete it", false},
		"warning":     {"it is only told", func(o *others, _ *activities.RescaleInput) { o.rivals = []core.Rival{vpa()} }, "", "", false},
		"not known":   {"a doubt is a hold", func(o *others, _ *activities.RescaleInput) { o.broken = core.ErrUnauthorized }, core.ReasonRival, "not known", false},
		"no safe way": {"the job is only watched", func(o *others, _ *activities.RescaleInput) { o.job.Means = &core.Means{Refused: "set upgradeMode"} }, core.ReasonNoSafeWay, "set upgradeMode", false},
		"a whole stop": {"nobody allowed it", func(o *others, _ *activities.RescaleInput) {
			o.job.Means = &core.Means{Method: "upgrade", Restarts: true}
		}, core.ReasonNotAdaptive, "redeploy.enabled", false},
		"a stop, allowed": {"the policy says so", func(o *others, in *activities.RescaleInput) {
			o.job.Means, in.Redeploy = &core.Means{Restarts: true}, true
		}, "", "", false},
		"no room": {"nothing could come of it", func(o *others, _ *activities.RescaleInput) { o.room = core.Room{Short: true, Note: "quota"} }, core.ReasonNoRoom, "quota", false},
		"no room, override": {"an order is written, and obeyed when there is room", func(o *others, in *activities.RescaleInput) {
			o.room, in.Cause = core.Room{Short: true, Note: "quota"}, core.ReasonOverride
		}, "", "quota", false},
		"some room": {"in place, a part is better than nothing", func(o *others, _ *activities.RescaleInput) { o.room = core.Room{Short: true, Fits: 1, Note: "quota"} }, "", "quota", false},
		"some room, stopped": {"what is given up may not come back", func(o *others, in *activities.RescaleInput) {
			o.room, o.job.Means, in.Redeploy = core.Room{Short: true, Fits: 1, Note: "quota"}, &core.Means{Restarts: true}, true
		}, core.ReasonNoRoom, "quota", false},
		"nodes may come": {"it takes longer", func(o *others, _ *activities.RescaleInput) {
			o.room = core.Room{Short: true, MayGrow: true, Note: "nodes"}
		}, "", "nodes", true},
		"elastic by name": {"the change brings its TaskManagers", func(o *others, _ *activities.RescaleInput) { o.free.Free, o.job.Means = 0, &core.Means{Elastic: true} }, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, in := &others{platform: newPlatform()}, rescaleInput(1, 4)
			tt.change(o, &in)
			got, err := ask[activities.Preflight](t, o, activities.NamePreflight, in)
			if err != nil || got.Reason != tt.want || !strings.Contains(got.Note, tt.note) || o.writes != 0 {
				t.Errorf("%s: %q (%s), %v, want %q (%s)", tt.reason, got.Reason, got.Note, err, tt.want, tt.note)
			}
			if longer := got.VerifyFor > in.VerifyTimeout; longer != tt.longer {
				t.Errorf("waits for %s (%s), longer than said: %v", got.VerifyFor, got.VerifyWhy, longer)
			}
		})
	}
}

// TestPreflightAsksForRoomForTheWish: it is the size to come that needs room.
func TestPreflightAsksForRoomForTheWish(t *testing.T) {
	t.Parallel()
	o := &others{platform: newPlatform()}
	o.job.Means = &core.Means{Trims: true}
	got, err := ask[activities.Preflight](t, o, activities.NamePreflight, rescaleInput(1, 4))
	if b, _ := o.asked.Of(slow); err != nil || b.Upper != 4 || !got.Trim {
		t.Errorf("asked for %v, trim %v, %v", o.asked, got.Trim, err)
	}
}

// TestObserveTellsOfOthers: who else is there is in the sample, and the numbers
// count all the same.
func TestObserveTellsOfOthers(t *testing.T) {
	t.Parallel()
	o := &others{platform: newPlatform(), rivals: []core.Rival{hpa(), vpa()}}
	got, err := ask[core.Observation](t, o, activities.NameObserve, activities.ObserveInput{Key: key(), Target: target()})
	if err != nil || !strings.HasPrefix(got.Sample.Rival, "HorizontalPodAutoscaler") || !strings.HasPrefix(got.Sample.Beware, "VerticalPodAutoscaler") || got.Sample.Fault != "" {
		t.Errorf("rival %q, beware %q, fault %q, %v", got.Sample.Rival, got.Sample.Beware, got.Sample.Fault, err)
	}
}

// TestVerifyWhatOthersCarry: a size that Flink shows is not all, where another
// program carries it there.
func TestVerifyWhatOthersCarry(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		change func(*others)
		kind   core.OutcomeKind
		why    core.Reason
		undo   bool
		note   string
	}{
		"carried": {"all is done", func(o *others) { o.carried.Done = true }, core.Applied, "", false, ""},
		"not carried": {"the operator is stopped: what was written is taken back", func(o *others) {
			o.held, o.carried = o.held.Want(sizes(1, 2)), core.Carried{Note: "generation 3 is not observed"}
			o.rescale()
		}, core.Failed, core.ReasonNotCarried, true, "generation 3 is not observed"},
		"not carried, but known": {"what is wanted shows what was written, the job has not moved", func(o *others) {
			before := o.status.RunningSince.Add(-time.Minute)
			o.carried = core.Carried{Note: "generation 3 is not observed"}
			o.status.Topology.Vertices[1].Parallelism, o.status.RunningSince = 2, before
			o.run()
		}, core.Failed, core.ReasonNotCarried, true, "generation 3 is not observed"},
		"slots are missing": {"an operator that waits for them is no news", func(o *others) {
			o.slots, o.free.Free, o.carried = 3, 0, core.Carried{Note: "UPGRADING"}
			o.rescale()
		}, core.Partial, core.ReasonNoSlots, false, "none of the cluster's 16 slots is free"},
		"at size, not settled": {"the operator is stuck, but the job runs as wanted", func(o *others) { o.carried = core.Carried{Note: "UPGRADING"} }, core.Partial, core.ReasonNotCarried, false, "UPGRADING"},
		"no pods": {"the quota denies them", func(o *others) {
			o.slots, o.carried = 3, core.Carried{Reason: core.ReasonNoRoom, Note: "exceeded quota"}
			o.rescale()
		}, core.Partial, core.ReasonNoRoom, false, "exceeded quota"},
		"carried, and no pods": {"Flink has it, and what it needs does not come", func(o *others) {
			o.slots, o.carried = 3, core.Carried{Done: true, Reason: core.ReasonNoRoom, Note: "fits on no node"}
			o.rescale()
		}, core.Partial, core.ReasonNoRoom, false, "fits on no node"},
		"taken away": {"I8: another has the field now", func(o *others) {
			o.carried = core.Carried{Reason: core.ReasonForeignWriter, Note: "argocd-controller has it"}
		}, core.Partial, core.ReasonForeignWriter, false, "argocd-controller"},
		"not known": {"nothing is known, so nothing is done", func(o *others) { o.broken = core.ErrUnreachable }, core.Failed, core.ReasonUnreachable, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &others{platform: newPlatform()}
			in := verifyInput(o.platform, time.Millisecond)
			if err := o.Want(t.Context(), o.job, "d1", in.Wish); err != nil {
				t.Fatal(err)
			}
			tt.change(o)
			got, err := ask[activities.Verified](t, o, activities.NameVerify, in)
			if err != nil || got.Kind != tt.kind || got.Reason != tt.why || (got.Undo != "") != tt.undo || !strings.Contains(got.Note, tt.note) {
				t.Errorf("%s: %+v, %v", tt.reason, got, err)
			}
		})
	}
}

// TestVerifyFollowsAJobThatIsStartedAgain: an upgrade ends the job and gives it
// another id; that is no other submission.
func TestVerifyFollowsAJobThatIsStartedAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		change func(*others)
		kind   core.OutcomeKind
		why    core.Reason
		id     string
	}{
		"another id": {"the operator started it anew", func(o *others) {
			o.job.ID, o.status.StartedAt = "job-2", o.status.Now.Add(time.Second)
		}, core.Applied, "", "job-2"},
		"the same id": {"older operators keep it", func(*others) {}, core.Applied, "", "job-1"},
		"still down":  {"it is not there, and that is no answer yet", func(o *others) { o.fail["Locate"] = core.ErrNotFound }, core.Failed, core.ReasonJobNotRunning, "job-1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &others{platform: newPlatform(), carried: core.Carried{Done: true}}
			o.job.Means = &core.Means{Restarts: true}
			in := verifyInput(o.platform, time.Millisecond)
			in.Since = start
			if err := o.Want(t.Context(), o.job, "d1", in.Wish); err != nil {
				t.Fatal(err)
			}
			tt.change(o)
			got, err := ask[activities.Verified](t, o, activities.NameVerify, in)
			if err != nil || got.Kind != tt.kind || got.Reason != tt.why || got.Job == nil || got.Job.ID != tt.id {
				t.Errorf("%s: %+v, %v", tt.reason, got, err)
			}
		})
	}
}

func TestTrim(t *testing.T) {
	t.Parallel()
	in := activities.TrimInput{Key: key(), Job: core.JobRef{ID: "job-1"}, DecisionID: "1-1"}
	o := &others{platform: newPlatform(), trimmed: "2 TaskManagers"}
	if got, err := ask[activities.Trimmed](t, o, activities.NameTrim, in); err != nil || got.Note != "2 TaskManagers" {
		t.Errorf("%+v, %v", got, err)
	}
	o.broken = core.ErrNotReady
	if _, err := ask[activities.Trimmed](t, o, activities.NameTrim, in); err == nil || activities.IsFinal(err) {
		t.Errorf("tasks still run there: %v, want to be asked again", err)
	}
	if _, err := call[activities.Trimmed](t, newPlatform(), activities.NameTrim, in); !activities.IsFinal(err) {
		t.Errorf("a worker that does not know how: %v, want a final error", err)
	}
}

// TestApplyYields: a field that another has taken is not written again.
func TestApplyYields(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	p.fail["Want"] = core.ErrForeign
	_, err := call[activities.ApplyResult](t, p, activities.NameApply, activities.ApplyInput{Key: key(), Job: p.job, DecisionID: "1-1", Held: p.held, Wish: p.held.Want(sizes(1, 4))})
	if !activities.IsFinal(err) || activities.ReasonOf(err, "") != core.ReasonForeignWriter || errors.Is(err, core.ErrBusy) {
		t.Errorf("error %v, want final and foreign-writer", err)
	}
}
