package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/share"
	"flinkscaler/core/spec"
	"flinkscaler/workflows"
)

// town is a world whose job shares ten slots with others: the real workflow that
// shares, beside that of the job.
type town struct {
	*world
	t *testing.T
	// ask is what the activity does in place of asking, nil for asking.
	ask func(in activities.AskSlotsInput) (activities.AskedSlots, bool, error)
	// wrote are the sizes written, with the minute.
	wrote []string
	asked []activities.AskSlotsInput
}

// townLimits are what the jobs of a town share.
func townLimits() share.Limits { return share.Limits{Slots: 10, Lease: 10 * time.Minute} }

// others is how many slots other jobs hold when the job's workflow starts.
func newTown(t *testing.T, others int) *town {
	t.Helper()
	c := &town{world: newWorld(t), t: t}
	c.shared = true
	c.env.SetStartWorkflowOptions(startOptions("town"))
	begun := c.env.Now()
	c.world.wrote = func(size int) {
		c.wrote = append(c.wrote, fmt.Sprintf("%d at %.0f", size, c.env.Now().Sub(begun).Minutes()))
	}
	c.env.RegisterActivityWithOptions(c.AskSlots, activity.RegisterOptions{Name: activities.NameAskSlots})
	c.env.RegisterWorkflowWithOptions(workflows.ShareSlots, workflow.RegisterOptions{Name: workflows.ShareName})
	c.env.RegisterWorkflowWithOptions(together(others), workflow.RegisterOptions{Name: "together"})
	return c
}

func together(others int) func(workflow.Context, map[string]any) error {
	return func(ctx workflow.Context, in map[string]any) error {
		child := func(id string, p enumspb.ParentClosePolicy) workflow.Context {
			return workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: id, ParentClosePolicy: p, WaitForCancellation: true})
		}
		free, _ := workflow.NewDisconnectedContext(child(share.ID("dev"), enumspb.PARENT_CLOSE_POLICY_ABANDON))
		sharing := workflow.ExecuteChildWorkflow(free, workflows.ShareName, activities.SlotsStart{Cluster: "dev", Limits: townLimits()})
		if err := sharing.GetChildWorkflowExecution().Get(ctx, nil); err != nil {
			return err
		}
		if err := sharing.SignalChildWorkflow(ctx, activities.SignalSlotsRelease, holding(others)).Get(ctx, nil); err != nil {
			return err
		}
		err := workflow.ExecuteChildWorkflow(child(spec.ID(key()), enumspb.PARENT_CLOSE_POLICY_TERMINATE), workflows.ScaleName, in).Get(ctx, nil)
		// What was sent at the end arrives.
		_ = workflow.Sleep(free, time.Second)
		return err
	}
}

func holding(slots int) activities.SlotsMessage {
	return activities.SlotsMessage{Cluster: "dev", Job: "others", DecisionID: "1-1", Held: slots}
}

func (c *town) AskSlots(_ context.Context, in activities.AskSlotsInput) (activities.AskedSlots, error) {
	c.set(func() { c.asked = append(c.asked, in) })
	if c.ask != nil {
		if out, answered, err := c.ask(in); answered {
			return out, err
		}
	}
	l := townLimits()
	m := activities.SlotsMessage{Cluster: "dev", Job: in.Key.Job, DecisionID: in.DecisionID, Held: in.Held, Limits: &l}
	if in.Slots <= 0 {
		return activities.AskedSlots{Lease: l.Lease}, c.env.SignalWorkflowByID(share.ID("dev"), activities.SignalSlotsRelease, m)
	}
	m.ReplyTo, m.Slots, m.Priority = in.ReplyTo, in.Slots, in.Priority
	return activities.AskedSlots{Lease: l.Lease}, c.env.SignalWorkflowByID(share.ID("dev"), activities.SignalSlotsRequest, m)
}

// othersHold has the other jobs hold so many slots from a minute on.
func (c *town) othersHold(minute int, slots int) {
	c.minute(minute, func() { c.signal(share.ID("dev"), activities.SignalSlotsRelease, holding(slots)) })
}

func (c *town) minute(n int, f func()) { c.at(time.Duration(n)*time.Minute+10*time.Second, f) }

func (c *town) signal(id, name string, m any) {
	if err := c.env.SignalWorkflowByID(id, name, m); err != nil {
		c.t.Error(err)
	}
}

func (c *town) order(name string, m any) { c.signal(spec.ID(key()), name, m) }

func query[T any](c *town, id, name string) T {
	var out T
	v, err := c.env.QueryWorkflowByID(id, name)
	if err == nil {
		err = v.Get(&out)
	}
	if err != nil {
		c.t.Error(err)
	}
	return out
}

func (c *town) job() workflows.Status {
	return query[workflows.Status](c, spec.ID(key()), workflows.QueryStatus)
}

func (c *town) sharing() workflows.Slots {
	return query[workflows.Slots](c, share.ID("dev"), workflows.QuerySlots)
}

// account is the sharing in short: who grows, who waits and why, what is taken.
func (c *town) account() string {
	v := c.sharing()
	var grow, wait []string
	for _, l := range v.Leases {
		grow = append(grow, fmt.Sprintf("%s %d+%d", l.Job, l.Held, l.Slots))
	}
	for _, p := range v.Queue {
		wait = append(wait, fmt.Sprintf("%s+%d:%s", p.Job, p.Slots, p.Why))
	}
	return fmt.Sprintf("[%s] [%s] %d", strings.Join(grow, " "), strings.Join(wait, " "), v.Used)
}

// play runs for so many minutes, and says what was written and how the account
// stands when the job is not managed any more.
func (c *town) play(minutes int) (wrote []string, account string) {
	c.t.Helper()
	c.stopAt(time.Duration(minutes) * time.Minute)
	c.at(time.Duration(minutes)*time.Minute+time.Second/2, func() { account = c.account() })
	c.env.ExecuteWorkflow("together", input())
	var canceled *temporal.CanceledError
	if err := c.env.GetWorkflowError(); !errors.As(err, &canceled) {
		c.t.Errorf("ended with %v", err)
	}
	return c.wrote, account
}

// TestTakingTurns: what a job does that shares its slots with others. It wants 5
// slots and has 2; what it writes, with the minute, and the account then.
func TestTakingTurns(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		others int
		story  func(c *town)
		want   []string
		// in the end, after so many minutes; 0 for ten.
		account string
		minutes int
	}{
		"free": {"it grows in the cycle in which it wants to", 4, func(*town) {}, []string{"5 at 0"}, "[] [] 9", 0},
		"waits": {"until another gives back, and not a minute longer", 8, func(c *town) {
			c.othersHold(6, 5)
			c.minute(7, func() {
				if n := len(c.asked); n != 3 {
					c.t.Errorf("asked %d times, want once, every third of a lease and to say what it holds: %+v", n, c.asked)
				}
			})
		}, []string{"5 at 6"}, "[] [] 10", 0},
		"never": {"and it says so", 8, func(c *town) {
			c.want = 12
			c.minute(2, func() {
				if s := c.job(); !strings.Contains(s.Note, "place 1 of 1") || !strings.Contains(s.Note, "(above-limit), has 2 slots and asks for 10 more, the limit for all jobs is 10") {
					c.t.Errorf("%s", s.Note)
				}
			})
		}, nil, "[] [] 10", 0},
		"paused (I6)": {"it gives up its place, and what comes free meanwhile is not used", 8, func(c *town) {
			c.minute(2, func() { c.order(workflows.MsgPause, nil) })
			c.minute(3, func() {
				if a := c.account(); a != "[] [] 10" {
					c.t.Errorf("while paused: %s", a)
				}
			})
			c.othersHold(4, 0)
			c.minute(7, func() { c.order(workflows.MsgResume, nil) })
		}, []string{"5 at 7"}, "[] [] 5", 0},
		"paused with the lease (I6)": {"what was given is given back", 4, func(c *town) {
			c.ask = func(in activities.AskSlotsInput) (activities.AskedSlots, bool, error) {
				if in.Slots > 0 { // a pause comes while it is asked
					c.order(workflows.MsgPause, nil)
				}
				return activities.AskedSlots{}, false, nil
			}
		}, nil, "[] [] 6", 0},
		"wish is gone": {"it does not wait for what it does not want", 8, func(c *town) {
			c.minute(2, func() { c.set(func() { c.want = 2 }) })
			c.othersHold(4, 0)
		}, nil, "[] [] 2", 0},
		"smaller instead": {"that waits for nobody, and is said", 8, func(c *town) {
			c.minute(2, func() { c.order(workflows.MsgOverride, map[string]any{"parallelism": 1}) })
		}, []string{"1 at 2"}, "[] [] 9", 0},
		"an order": {"waits too", 8, func(c *town) {
			c.want = 2
			c.minute(2, func() { c.order(workflows.MsgOverride, map[string]any{"parallelism": 4}) })
			c.othersHold(5, 6)
		}, []string{"4 at 5"}, "[] [] 10", 0},
		"needs more by then": {"it asks anew and keeps its place", 8, func(c *town) {
			c.minute(3, func() {
				c.set(func() { c.want = 7 })
				c.signal(share.ID("dev"), activities.SignalSlotsRequest, other("late", 1))
			})
			c.othersHold(4, 5)
			c.minute(5, func() {
				// "late" fits and passes, since the job has not waited for long.
				if a := c.account(); a != "[late 0+1] [orders+5:no-slots] 8" {
					c.t.Errorf("in between: %s", a)
				}
			})
			c.othersHold(6, 2)
		}, []string{"7 at 6"}, "[late 0+1] [] 10", 0},
		"needs less by then": {"it takes less, and the rest is for others", 8, func(c *town) {
			c.verify = func(activities.VerifyInput) (activities.Verified, error) {
				if a := c.account(); a != "[orders 2+1] [] 8" {
					c.t.Errorf("while it grows: %s", a)
				}
				c.set(func() { c.size = 3 })
				return activities.Verified{Kind: core.Applied, Got: sized(3), WishHeld: true}, nil
			}
			c.minute(3, func() { c.set(func() { c.want = 3 }) })
			c.at(3*time.Minute+11*time.Second, func() { c.signal(share.ID("dev"), activities.SignalSlotsRelease, holding(5)) })
		}, []string{"3 at 3"}, "[] [] 8", 0},
		"cannot be judged": {"a look that finds nothing does not cost the place", 8, func(c *town) {
			c.minute(2, func() { c.set(func() { c.fault = core.ReasonUnreachable }) })
			c.minute(3, func() {
				if a := c.account(); a != "[] [orders+3:away] 10" {
					c.t.Errorf("while it cannot be judged: %s", a)
				}
				c.signal(share.ID("dev"), activities.SignalSlotsRequest, other("late", 3))
				c.set(func() { c.fault = "" })
			})
			c.othersHold(5, 5)
		}, []string{"5 at 5"}, "[] [late+3:no-slots] 10", 0},
		"others are killed": {"what they had been given is free after their lease", 4, func(c *town) {
			c.want = 2
			c.at(time.Second, func() { c.signal(share.ID("dev"), activities.SignalSlotsRequest, other("killed", 4)) })
			c.minute(1, func() { c.set(func() { c.want = 5 }) })
		}, []string{"5 at 10"}, "[] [] 9", 15},
		"nobody can be asked": {"it holds, and asks again", 4, func(c *town) {
			n := 0
			c.ask = func(activities.AskSlotsInput) (activities.AskedSlots, bool, error) {
				n++
				return activities.AskedSlots{}, n <= 3, temporal.NewNonRetryableApplicationError("no server", "x", nil)
			}
			c.at(30*time.Second, func() {
				if s := c.job(); s.Reason != core.ReasonSlotsShared || !strings.Contains(s.Note, "nobody could be asked: no server") {
					c.t.Errorf("%s: %s", s.Reason, s.Note)
				}
			})
		}, []string{"5 at 3"}, "[] [] 9", 0},
		"no answer": {"it holds", 4, func(c *town) {
			c.ask = func(activities.AskSlotsInput) (activities.AskedSlots, bool, error) {
				return activities.AskedSlots{Lease: 10 * time.Minute}, true, nil
			}
		}, nil, "[] [] 6", 0},
		"another worker shares nothing": {"nobody is asked, and it grows", 9, func(c *town) {
			c.ask = func(activities.AskSlotsInput) (activities.AskedSlots, bool, error) {
				return activities.AskedSlots{Off: true}, true, nil
			}
		}, []string{"5 at 0"}, "[] [] 9", 0},
		"no longer shared": {"it grows, and its request is taken back", 8, func(c *town) {
			c.minute(4, func() { c.set(func() { c.shared = false }) })
		}, []string{"5 at 5"}, "[] [] 10", 0},
		"a lease that nobody wants": {"is given back", 4, func(c *town) {
			c.want = 2
			c.minute(2, func() {
				m := other("orders", 2)
				m.ReplyTo = spec.ID(key())
				c.signal(share.ID("dev"), activities.SignalSlotsRequest, m)
			})
		}, nil, "[] [] 6", 3},
		"the size is not had": {"what is not known to be free counts", 4, func(c *town) {
			c.verify = func(activities.VerifyInput) (activities.Verified, error) {
				c.set(func() { c.want = 2 })
				return activities.Verified{Kind: core.Partial, Got: sized(2)}, nil
			}
			c.at(10*time.Second, func() {
				if a := c.account(); a != "[] [] 6" { // told anew by the next look
					c.t.Errorf("after it: %s", a)
				}
			})
		}, []string{"5 at 0"}, "[] [] 6", 0},
		"stopped": {"its place is free", 8, func(*town) {}, nil, "[] [] 10", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newTown(t, tt.others)
			c.want = 5
			tt.story(c)
			if tt.minutes == 0 {
				tt.minutes = 10
			}
			wrote, account := c.play(tt.minutes)
			if diff := cmp.Diff(tt.want, wrote); diff != "" {
				t.Errorf("%s: written (-want +got):\n%s", tt.reason, diff)
			}
			if account != tt.account {
				t.Errorf("%s: in the end %s, want %s", tt.reason, account, tt.account)
			}
		})
	}
}

// other is another job that wants so many slots; its answers go to the sharing
// itself, where nobody reads them.
func other(job string, slots int) activities.SlotsMessage {
	return activities.SlotsMessage{Cluster: "dev", Job: job, DecisionID: "9-9", Slots: slots, ReplyTo: share.ID("dev")}
}

// TestWaitingIsShown where people look: status, explain, history.
func TestWaitingIsShown(t *testing.T) {
	t.Parallel()
	c := newTown(t, 8)
	c.want = 5
	const place = "place 1 of 1 since 2026-11-29 12:00:00Z (no-slots), asks for 3 slots, 0 of 10 are free"
	// By then it was asked again: it waits since the first time.
	c.minute(5, func() {
		s := c.job()
		if s.State != workflows.Watching || s.Reason != core.ReasonSlotsShared || !strings.Contains(s.Note, place) {
			t.Errorf("status: %s, %s: %s", s.State, s.Reason, s.Note)
		}
		if s.Slots == nil || s.Slots.Place == nil || s.Slots.Place.Place != 1 || s.Slots.Place.Why != share.WhySlots {
			t.Errorf("status.slots: %+v", s.Slots)
		}
		lines := query[[]string](c, spec.ID(key()), workflows.QueryExplain)
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "waits for 3 slots: "+place) }) {
			t.Errorf("explain:\n%s", strings.Join(lines, "\n"))
		}
		h := query[workflows.History](c, spec.ID(key()), workflows.QueryHistory)
		if len(h.Decisions) != 1 || h.Decisions[0].Reason != core.ReasonSlotsShared || h.Decisions[0].Count < 2 {
			t.Errorf("history: %+v", h.Decisions)
		}
	})
	c.play(6)
}

// TestALeaseThatHasEnded before the write is none: others may have the slots.
func TestALeaseThatHasEnded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		part   activities.SlotsPart
		kind   core.OutcomeKind
		writes int
	}{
		"alive":  {"it is used", activities.SlotsPart{Lease: "6-1", For: 10 * time.Minute, Until: start().Add(time.Second)}, core.Applied, 1},
		"ended":  {"nothing is written", activities.SlotsPart{Lease: "6-1", For: 10 * time.Minute, Until: start()}, core.Rejected, 0},
		"no one": {"the way back from a change waits for nobody", activities.SlotsPart{}, core.Applied, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newTown(t, 4)
			tt.part.Held, tt.part.Slots = 2, 2
			var o core.Outcome
			account := ""
			c.env.RegisterWorkflowWithOptions(func(ctx workflow.Context) error {
				sharing := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: share.ID("dev")}), workflows.ShareName, activities.SlotsStart{Cluster: "dev", Limits: townLimits()})
				if err := sharing.GetChildWorkflowExecution().Get(ctx, nil); err != nil {
					return err
				}
				in := activities.RescaleInput{Key: key(), JobID: "job-1", DecisionID: "7-1", Cause: core.ReasonScaleUp, From: sized(2), Wanted: sized(4), Slots: &tt.part}
				if err := workflow.ExecuteChildWorkflow(ctx, workflows.RescaleName, in).Get(ctx, &o); err != nil {
					return err
				}
				if err := workflow.Sleep(ctx, time.Second); err != nil {
					return err
				}
				account = c.account()
				return nil
			}, workflow.RegisterOptions{Name: "alone"})
			c.env.ExecuteWorkflow("alone")
			if err := c.env.GetWorkflowError(); err != nil {
				t.Fatal(err)
			}
			if o.Kind != tt.kind || c.writes != tt.writes || (tt.writes == 0 && o.Reason != core.ReasonSlotsShared) {
				t.Errorf("%s: %s (%s) after %d writes", tt.reason, o.Kind, o.Reason, c.writes)
			}
			if want := fmt.Sprintf("[] [] %d", 2+2*tt.writes); account != want {
				t.Errorf("%s: in the end %s, want %s", tt.reason, account, want)
			}
		})
	}
}

// start is when a world begins.
func start() time.Time { return time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC) }
