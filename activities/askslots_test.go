package activities_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/testsuite"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/core/share"
)

// asker keeps what it is told.
type asker struct {
	asked   []activities.SlotsMessage
	signals []string
	queue   string
	fails   error
}

func (a *asker) TellSlots(_ context.Context, queue, signal string, m activities.SlotsMessage) error {
	a.asked, a.signals, a.queue = append(a.asked, m), append(a.signals, signal), queue
	return a.fails
}

func sharing(t *testing.T, limits share.Limits, to activities.SlotAsker) *activities.Activities {
	t.Helper()
	a, err := activities.New(activities.Settings{
		Clusters: map[string]activities.Cluster{"dev": {Platform: newPlatform(), Share: limits}}, Slots: to, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAskSlots(t *testing.T) {
	t.Parallel()
	wish := activities.SlotsWish{Held: 2, Slots: 3, Priority: 1}
	message := activities.SlotsMessage{
		Cluster: "dev", Job: "orders", DecisionID: "7-1", ReplyTo: "saga", Held: 2, Slots: 3, Priority: 1,
		Limits: &share.Limits{Slots: 10, Lease: share.DefaultLease},
	}
	for name, tt := range map[string]struct {
		reason  string
		cluster string
		limits  share.Limits
		fails   error
		want    activities.AskedSlots
		asked   []activities.SlotsMessage
		bad     bool
	}{
		"off":             {"without a limit nobody is asked", "dev", share.Limits{Lease: time.Minute}, nil, activities.AskedSlots{Off: true}, nil, false},
		"asked":           {"with the limits of the worker", "dev", share.Limits{Slots: 10}, nil, activities.AskedSlots{Lease: share.DefaultLease}, []activities.SlotsMessage{message}, false},
		"no answer":       {"it is tried again", "dev", share.Limits{Slots: 10}, errors.New("away"), activities.AskedSlots{}, []activities.SlotsMessage{message}, true},
		"unknown cluster": {"a worker that does not know it must not say that it is off", "prod", share.Limits{}, nil, activities.AskedSlots{}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := &asker{fails: tt.fails}
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestActivityEnvironment()
			sharing(t, tt.limits, to).Register(env)
			v, err := env.ExecuteActivity(activities.NameAskSlots, activities.AskSlotsInput{
				Key: core.JobKey{Cluster: tt.cluster, Job: "orders"}, DecisionID: "7-1", ReplyTo: "saga", SlotsWish: wish,
			})
			if (err != nil) != tt.bad {
				t.Fatalf("%s: %v", tt.reason, err)
			}
			var got activities.AskedSlots
			if err == nil {
				if err := v.Get(&got); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tt.want, got) + cmp.Diff(tt.asked, to.asked); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if len(to.asked) > 0 && to.queue == "" {
				t.Error("no task queue for the start")
			}
		})
	}
}

func TestSharingNeedsSomebodyToAsk(t *testing.T) {
	t.Parallel()
	_, err := activities.New(activities.Settings{
		Clusters: map[string]activities.Cluster{"dev": {Platform: newPlatform(), Share: share.Limits{Slots: 1}}}, Now: time.Now,
	})
	if err == nil {
		t.Error("a limit without anybody to ask is accepted")
	}
}

// TestOnlyTold: who wants no slots says what it holds, and waits for nobody.
func TestOnlyTold(t *testing.T) {
	t.Parallel()
	to := &asker{}
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	sharing(t, share.Limits{Rescales: 1, Lease: time.Minute}, to).Register(env)
	if _, err := env.ExecuteActivity(activities.NameAskSlots, activities.AskSlotsInput{Key: key(), DecisionID: "7-1", SlotsWish: activities.SlotsWish{Held: 4, Priority: 3}}); err != nil {
		t.Fatal(err)
	}
	want := []activities.SlotsMessage{{Cluster: "dev", Job: "orders", DecisionID: "7-1", Held: 4, Limits: &share.Limits{Rescales: 1, Lease: time.Minute}}}
	if diff := cmp.Diff(want, to.asked) + cmp.Diff([]string{activities.SignalSlotsRelease}, to.signals); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTurnOfADecision: what Decide says of slots, and that it lets nothing grow
// beyond what was given. The job runs its two vertices in two slots.
func TestTurnOfADecision(t *testing.T) {
	t.Parallel()
	const waits = "needs 2 slots besides its 2 of those that the jobs of the cluster share: "
	order := func(n int) *core.Override {
		return &core.Override{Vertices: []core.VertexSize{{ID: slow, Parallelism: n}}}
	}
	wish := func(held, slots int) *activities.SlotsWish {
		return &activities.SlotsWish{Held: held, Slots: slots, Priority: 4}
	}
	for name, tt := range map[string]struct {
		reason string
		limits share.Limits
		bend   func(c *core.JobContext)
		want   *activities.SlotsWish
		why    core.Reason
		note   string
	}{
		"off":       {"nothing is shared, nothing is said", share.Limits{}, func(c *core.JobContext) { c.Override = order(4) }, nil, core.ReasonOverride, ""},
		"no change": {"what it holds is said all the same", share.Limits{Slots: 10}, func(c *core.JobContext) { c.Pause = &core.Pause{} }, wish(2, 0), core.ReasonPaused, ""},
		"larger":    {"it is held, and says what it wants", share.Limits{Slots: 10}, func(c *core.JobContext) { c.Override = order(4) }, wish(2, 2), core.ReasonSlotsShared, waits + "they are going to be asked for"},
		"waiting":   {"with its place", share.Limits{Rescales: 1}, func(c *core.JobContext) { c.Override, c.Turn = order(4), &core.Turn{Standing: "place 2 of 3"} }, wish(2, 2), core.ReasonSlotsShared, waits + "place 2 of 3"},
		"given":     {"it may grow by what was given", share.Limits{Slots: 10}, func(c *core.JobContext) { c.Override, c.Turn = order(4), &core.Turn{Granted: 4} }, wish(2, 2), core.ReasonOverride, ""},
		"too few":   {"more than was given is asked for anew", share.Limits{Slots: 10}, func(c *core.JobContext) { c.Override, c.Turn = order(4), &core.Turn{Granted: 3} }, wish(2, 2), core.ReasonSlotsShared, waits},
		"smaller":   {"it waits for nobody", share.Limits{Slots: 10}, func(c *core.JobContext) { c.Override = order(1) }, wish(2, -1), core.ReasonOverride, ""},
		"paused": {"I6: what was given is not used", share.Limits{Slots: 10}, func(c *core.JobContext) {
			c.Pause, c.Override, c.Turn = &core.Pause{}, order(4), &core.Turn{Granted: 4}
		}, wish(2, 0), core.ReasonPaused, ""},
		"asked of Flink already": {"Flink takes that by itself, it counts as held", share.Limits{Slots: 10}, func(c *core.JobContext) {
			c.Pause = &core.Pause{}
			c.Window[0].Asked, c.Window[0].Wanted = true, core.Requirements{{ID: slow, Lower: 1, Upper: 5}}
		}, wish(5, 0), core.ReasonPaused, ""},
		"gone":       {"it holds nothing", share.Limits{Slots: 10}, func(c *core.JobContext) { c.Window[0].Fault = core.ReasonJobGone }, wish(0, 0), core.ReasonJobGone, ""},
		"never seen": {"nothing is known", share.Limits{Slots: 10}, func(c *core.JobContext) { c.Topology, c.Window = core.Topology{}, nil }, nil, core.ReasonWindowNotFull, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := seen(1)
			tt.bend(&c)
			out, err := sharing(t, tt.limits, &asker{}).Decide(t.Context(), activities.DecideInput{Context: c, Input: map[string]string{"job.autoscaler.share.priority": "4"}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, out.Slots); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if d := out.Decision; d.Reason != tt.why || !strings.HasPrefix(d.Note, tt.note) {
				t.Errorf("%s: %s: %s", tt.reason, d.Reason, d.Note)
			}
		})
	}
}

// TestPrioritiesHaveOneRange: the policy refuses what the sharing would cut.
func TestPrioritiesHaveOneRange(t *testing.T) {
	t.Parallel()
	for value, good := range map[int]bool{share.MinPriority - 1: false, share.MinPriority: true, 0: true, share.MaxPriority: true, share.MaxPriority + 1: false} {
		problems := policy.Check(policy.Layer{Name: "input", Values: map[string]string{"job.autoscaler.share.priority": fmt.Sprint(value)}})
		if (len(problems) == 0) != good {
			t.Errorf("priority %d: %v", value, problems)
		}
	}
}
