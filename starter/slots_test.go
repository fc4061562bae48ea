package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
	"flinkscaler/core/share"
	"flinkscaler/internal/connect"
	"flinkscaler/workflows"
)

// sharingServer also answers for the workflow that shares slots.
type sharingServer struct {
	*fakeServer

	status string
	slots  workflows.Slots
	fails  error
}

func (f *sharingServer) Describe(ctx context.Context, id string) (execution, error) {
	if id == share.ID("dev") && f.status != "" {
		return execution{ID: id, RunID: "r", TaskQueue: workflows.TaskQueue, Status: f.status, ClosedAt: ago(2 * time.Hour)}, nil
	}
	return f.fakeServer.Describe(ctx, id)
}

func (f *sharingServer) Query(_ context.Context, _, name string, answer any) error {
	if f.fails != nil || name != workflows.QuerySlots {
		return f.fails
	}
	b, err := json.Marshal(f.slots)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, answer)
}

func TestSlots(t *testing.T) {
	t.Parallel()
	s := share.State{Limits: share.Limits{Slots: 10, Rescales: 2}}
	s.Request(share.Request{Job: "orders", DecisionID: "17-1", Held: 2, Slots: 6}, ago(7*time.Minute))
	s.Grants(ago(7 * time.Minute))
	s.Request(share.Request{Job: "clicks", DecisionID: "9-1", Held: 1, Slots: 4, Priority: 2}, ago(6*time.Minute))
	s.Request(share.Request{Job: "small", DecisionID: "3-1", Slots: 1}, ago(time.Minute))
	full := workflows.Slots{
		Cluster: "dev", Limits: s.Limits, Used: s.Used(), Leases: s.Leases, Queue: s.Places(fakeNow()), Jobs: s.Uses,
		Ended:    []workflows.EndedSlot{{At: ago(time.Hour), Ended: share.Ended{Job: "old", DecisionID: "1", What: "lease"}, Why: "it was not renewed"}},
		Rejected: []workflows.Rejected{{At: ago(time.Minute), Message: "renew", Problems: []core.Problem{{Path: "renew", Message: "must be one JSON object"}}}},
	}
	for name, tt := range map[string]struct {
		reason string
		args   string
		server sharingServer
		want   string
	}{
		"all": {"who grows, who waits, what each holds", "slots --cluster dev", sharingServer{status: statusRunning, slots: full}, `dev: 9 of 10 slots in use, 1 of 2 grow, 2 wait

GROWS   HAD  MORE    FOR  LEASE  DECISION
orders    2    +6  7 min  3 min  17-1

WAITS   PLACE  MORE  PRIORITY    FOR  WHY                  NOTE
clicks      1    +4         2  6 min  no-slots (in front)  asks for 4 slots, 1 of 10 are free
small       2    +1         0   60 s  reserved             what becomes free is kept for clicks, which has waited for long in front

HOLDS   SLOTS       SAID
clicks      1  6 min ago
orders      2  7 min ago
small       0   60 s ago

lease of old ended by itself 60 min ago: it was not renewed

signal renew was rejected 60 s ago: renew: must be one JSON object
`},
		"ended": {"what was last known, and that it is old", "slots --cluster dev", sharingServer{status: "Completed", slots: workflows.Slots{Cluster: "dev", Limits: share.Limits{Rescales: 1}}},
			"dev: 0 slots in use, 0 of 1 grow, 0 wait\n! nobody asks for slots now (completed 2 h ago); what follows is what was last known\n"},
		"never":      {"nobody asked", "slots --cluster prod", sharingServer{}, "! error: no job of cluster prod has asked for slots\n! They do where the worker's configuration has a section share for the cluster, and a job is to grow.\n[exit 1]\n"},
		"no worker":  {"who would answer is away", "slots --cluster dev", sharingServer{status: statusRunning, fails: errNoWorker}, "! error: no worker answered for flink-slots/dev within 10 s\n! Check that a worker runs on task queue \"flinkscaler\" and is healthy, or give it more time with --timeout.\n[exit 1]\n"},
		"no cluster": {"it must be said which", "slots", sharingServer{}, "! error: slots needs a cluster\n! Usage: flinkscaler slots --cluster CLUSTER\n[exit 2]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := newStage()
			tt.server.fakeServer = st.server
			st.app.dial = func(context.Context, client.Options, endpoint, connect.Environ) (server, error) {
				return &tt.server, nil
			}
			if diff := cmp.Diff(tt.want, st.run(t.Context(), strings.Fields(tt.args))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestSlotsAsJSON(t *testing.T) {
	t.Parallel()
	st := newStage()
	f := sharingServer{fakeServer: st.server, status: statusRunning, slots: workflows.Slots{Cluster: "dev", Used: 3}}
	st.app.dial = func(context.Context, client.Options, endpoint, connect.Environ) (server, error) { return &f, nil }
	var got workflows.Slots
	if err := json.Unmarshal([]byte(st.run(t.Context(), strings.Fields("slots --cluster dev -o json"))), &got); err != nil || got.Used != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}
