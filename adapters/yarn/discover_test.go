package yarn_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/adapters/yarn"
	"flinkscaler/core"
	"flinkscaler/internal/flinksim"
)

// TestDiscover: each application is named so that a workflow finds it alone, and each
// job of a session.
func TestDiscover(t *testing.T) {
	t.Parallel()
	sim, address := startSim(t, flinksim.Flink23) // which takes jobs, as a session does
	submit(t, sim, "b")
	submit(t, sim, "a")
	like := func(id, name string, change func(*fakeApp)) fakeApp {
		a := running(id, name, address)
		change(&a)
		return a
	}
	rm := newRM(t,
		like("application_1_1", "session", func(*fakeApp) {}),
		like("application_1_2", "Flink Application Cluster", func(a *fakeApp) { a.State, a.Address, a.Tags = "ACCEPTED", "", "orders,team-a" }),
		like("application_1_3", "Flink Application Cluster", func(a *fakeApp) { a.State, a.Address, a.Tags, a.Queue = "ACCEPTED", "", "team-a", "root.small" }),
		like("application_1_4", "twins", func(a *fakeApp) { a.State, a.Address, a.Tags = "ACCEPTED", "", "" }),
		like("application_1_5", "twins", func(a *fakeApp) { a.State, a.Address, a.Tags = "ACCEPTED", "", "" }),
		like("application_1_6", "ended", func(a *fakeApp) { a.State = "FINISHED" }),
		like("application_1_7", "spark", func(a *fakeApp) { a.Type = "SPARK" }),
	)
	found, notes, err := open(t, yarn.Config{ResourceManagers: []string{rm.URL}}).Discover(t.Context())
	must(t, err)
	means := &core.Means{Method: "yarn-in-place", Elastic: true}
	want := []yarn.Found{
		{Target: core.YarnTarget{ApplicationTag: "orders"}},
		{Target: core.YarnTarget{ApplicationName: "Flink Application Cluster", Queue: "root.small"}},
		{Target: core.YarnTarget{ApplicationName: "session", JobName: "a"}, Means: means},
		{Target: core.YarnTarget{ApplicationName: "session", JobName: "b"}, Means: means},
	}
	for i := range found {
		if m := found[i].Means; m != nil {
			found[i].Means = &core.Means{Method: m.Method, Elastic: m.Elastic}
		}
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	if len(notes) != 4 { // two that start, two that cannot be told apart
		t.Errorf("notes %+v", notes)
	}
	rm.Close()
	_, _, err = open(t, yarn.Config{ResourceManagers: []string{rm.URL}}).Discover(t.Context())
	wantMeaning(t, "no answer", err, core.ErrUnreachable)
}
