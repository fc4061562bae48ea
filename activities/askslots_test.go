package activities_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/testsuite"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/core/share"
)

// asker keeps what it is asked.
type asker struct {
	asked []activities.SlotsMessage
	queue string
	fails error
}

func (a *asker) AskSlots(_ context.Context, queue string, m activities.SlotsMessage) error {
	a.asked, a.queue = append(a.asked, m), queue
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

// TestWishOf counts slot sharing groups, not vertices.
func TestWishOf(t *testing.T) {
	t.Parallel()
	topology := core.Topology{Vertices: []core.Vertex{
		{ID: "a", Parallelism: 2, SlotGroup: "x"}, {ID: "b", Parallelism: 3, SlotGroup: "x"}, {ID: "c", Parallelism: 4, SlotGroup: "y"},
	}}
	change := func(a, b, c int) core.Decision {
		return core.Decision{Verdict: core.Change, Vertices: []core.VertexDecision{{ID: "a", From: 2, To: a}, {ID: "b", From: 3, To: b}, {ID: "c", From: 4, To: c}}}
	}
	on := share.Limits{Slots: 10}
	for name, tt := range map[string]struct {
		reason string
		limits share.Limits
		d      core.Decision
		want   *activities.SlotsWish
	}{
		"off":     {"nothing is shared", share.Limits{}, change(5, 3, 4), nil},
		"hold":    {"nothing changes", on, core.Decision{Verdict: core.Hold}, nil},
		"within":  {"a smaller vertex grows inside the slots of its group", on, change(3, 3, 4), &activities.SlotsWish{Held: 7, Slots: 0, Priority: 2}},
		"larger":  {"what the largest vertex of each group needs more", on, change(5, 3, 6), &activities.SlotsWish{Held: 7, Slots: 4, Priority: 2}},
		"both":    {"what one group gives back the other takes", on, change(2, 2, 5), &activities.SlotsWish{Held: 7, Slots: 0, Priority: 2}},
		"smaller": {"gives slots back", on, change(1, 1, 4), &activities.SlotsWish{Held: 7, Slots: -2, Priority: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, sharing(t, tt.limits, &asker{}).WishOf("dev", topology, tt.d, 2)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
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
