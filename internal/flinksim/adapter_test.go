package flinksim_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"flinkscaler/adapters/flink"
	"flinkscaler/core"
	"flinkscaler/internal/flinksim"
)

// quick are options under which the real clock does not take long.
func quick(version string) flinksim.Options {
	return flinksim.Options{
		Version: version, FetchInterval: 200 * time.Millisecond, FetchTime: 20 * time.Millisecond, CacheTime: -1, GaugeSpan: time.Second,
		Downtime: 50 * time.Millisecond, Deploy: 20 * time.Millisecond, Cooldown: -1, MaxDelay: 50 * time.Millisecond,
		Stabilization: 50 * time.Millisecond, HeartbeatInterval: 100 * time.Millisecond,
	}
}

// connect starts a cluster and the real adapter for it.
func connect(t *testing.T, o flinksim.Options) (*flinksim.Cluster, *flink.Cluster) {
	t.Helper()
	c := flinksim.New(o)
	t.Cleanup(c.Close)
	url, err := c.Start()
	if err != nil {
		t.Fatal(err)
	}
	a, err := flink.New(flink.Config{URLs: []string{url}, Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return c, a
}

func pick(_ core.Vertex, names []string) []string { return names }

func value(m core.Measurement, vertex, id string) (core.Aggregate, bool) {
	for _, v := range m.Vertices {
		if v.ID != vertex {
			continue
		}
		for _, a := range v.Values {
			if a.ID == id {
				return a, true
			}
		}
	}
	return core.Aggregate{}, false
}

// eventually asks until it is so.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-ctx.Done():
			t.Fatalf("never: %s", what)
		case <-tick.C:
		}
	}
}

func TestAdapterReadsTheSimulator(t *testing.T) {
	t.Parallel()
	for _, version := range []string{flinksim.Flink23, flinksim.Flink120} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c, a := connect(t, quick(version))
			id := c.AddJob(flinksim.JobSpec{Name: "orders", Load: flinksim.Constant(3000)})
			ref, err := a.Locate(t.Context(), core.Target{Flink: &core.FlinkTarget{JobName: "orders"}})
			if err != nil || ref.ID != id || ref.FlinkVersion != version {
				t.Fatalf("locate: %+v %v", ref, err)
			}
			var m core.Measurement
			eventually(t, "fresh metrics with a lag and a busy bottleneck", func() bool {
				m, err = a.Measure(t.Context(), ref, pick)
				lag, have := value(m, flinksim.VertexID("Source: orders"), "Source__orders.pendingRecords")
				busy, _ := value(m, flinksim.VertexID("enrich"), "busyTimeMsPerSecond")
				return err == nil && m.Fresh && have && lag.Sum > 500 && busy.Avg > 990 && busy.Max <= 1000
			})
			if len(m.Status.Topology.Vertices) != 3 || !m.Status.AllTasksRunning() || m.SlotsTotal.Or(0) != 8 || len(m.TaskManagers) == 0 {
				t.Errorf("measured %+v", m.Status)
			}
			if h, err := a.Inspect(t.Context(), ref); err != nil || !h.Checkpointing || h.Interval != 5*time.Second {
				t.Errorf("inspect: %+v %v", h, err)
			}
			_, has, err := a.Rescales(t.Context(), ref)
			if err != nil || has != (version == flinksim.Flink23) {
				t.Errorf("rescales: %t %v", has, err)
			}
		})
	}
}

// TestAdapterSeesTaskManagers: their slots, and the options by which Flink runs.
func TestAdapterSeesTaskManagers(t *testing.T) {
	t.Parallel()
	o := quick(flinksim.Flink120)
	o.Reactive, o.Slots, o.SlotsPerTaskManager = true, 4, 2
	c, a := connect(t, o)
	c.AddJob(flinksim.JobSpec{Name: "orders"})
	eventually(t, "two TaskManagers whose slots are all held", func() bool {
		all, err := a.TaskManagers(t.Context())
		return err == nil && len(all) == 2 && all[0].Slots == 2 && all[1].Slots == 2 && all[0].Free+all[1].Free == 0 && all[0].Host != ""
	})
	c.SetTaskManagers(3)
	eventually(t, "three", func() bool { all, err := a.TaskManagers(t.Context()); return err == nil && len(all) == 3 })
	if options, err := a.ClusterOptions(t.Context()); err != nil || options["scheduler-mode"] != "REACTIVE" {
		t.Errorf("options: %v %v", options, err)
	}
}

func TestAdapterRescalesTheSimulator(t *testing.T) {
	t.Parallel()
	c, a := connect(t, quick(flinksim.Flink23))
	id := c.AddJob(flinksim.JobSpec{Name: "orders"})
	ref := core.JobRef{ID: id, Name: "orders"}
	before, err := a.Status(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	wanted, err := a.Wanted(t.Context(), ref)
	if err != nil || len(wanted) != 3 {
		t.Fatalf("wanted: %+v %v", wanted, err)
	}
	if err := a.Want(t.Context(), ref, "d1", wanted.Want([]core.VertexSize{{ID: flinksim.VertexID("enrich"), Parallelism: 5}})); err != nil {
		t.Fatal(err)
	}
	eventually(t, "enrich runs at 5", func() bool {
		s, err := a.Status(t.Context(), ref)
		p, _ := core.FindSize(s.Topology.Sizes(), flinksim.VertexID("enrich"))
		return err == nil && s.AllTasksRunning() && p == 5 && s.RunningSince.After(before.RunningSince)
	})
	w := c.Writes()
	if len(w) != 1 || w[0].Bounds["enrich"] != (flinksim.WriteBounds{Lower: 1, Upper: 5}) {
		t.Errorf("writes: %+v", w)
	}
}

func TestAdapterSeesTheFaults(t *testing.T) {
	t.Parallel()
	c, a := connect(t, quick(flinksim.Flink23))
	id := c.AddJob(flinksim.JobSpec{Name: "orders"})
	fixed := c.AddJob(flinksim.JobSpec{Name: "fixed", NotAdaptive: true})
	ended := c.AddJob(flinksim.JobSpec{Name: "ended"})
	if err := c.FailJob(ended, "boom"); err != nil {
		t.Fatal(err)
	}
	wanted := func(id string) error { _, err := a.Wanted(t.Context(), core.JobRef{ID: id}); return err }
	status := func(id string) error { _, err := a.Status(t.Context(), core.JobRef{ID: id}); return err }
	for name, x := range map[string]struct{ got, want error }{
		"not adaptive": {wanted(fixed), core.ErrNotAdaptive},
		"ended":        {wanted(ended), core.ErrNotFound},
		"unknown":      {status("00000000000000000000000000000001"), core.ErrNotFound},
		"refused":      {a.Want(t.Context(), core.JobRef{ID: id}, "d1", core.Requirements{{ID: flinksim.VertexID("enrich"), Lower: 1, Upper: 2}}), core.ErrRefused},
	} {
		if !errors.Is(x.got, x.want) {
			t.Errorf("%s: %v, want %v", name, x.got, x.want)
		}
	}
	for mode, want := range map[flinksim.Unavailability]error{
		flinksim.NoLeader: core.ErrNoLeader, flinksim.Recovering: core.ErrNoLeader, flinksim.HTML: core.ErrNotFlink,
		flinksim.Redirect: core.ErrNotFlink, flinksim.Unauthorized: core.ErrUnauthorized, flinksim.Reset: core.ErrUnreachable,
		flinksim.HalfBody: core.ErrUnreachable, flinksim.Conflict: core.ErrBusy,
	} {
		c.SetUnavailable(mode)
		if err := status(id); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", mode, err, want)
		}
	}
	c.SetUnavailable(flinksim.Available)
}

func TestAdapterSeesAHungTaskManager(t *testing.T) {
	t.Parallel()
	c, a := connect(t, quick(flinksim.Flink23))
	id := c.AddJob(flinksim.JobSpec{Name: "orders"})
	measure := func() core.Measurement {
		m, err := a.Measure(t.Context(), core.JobRef{ID: id}, pick)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	eventually(t, "fresh metrics", func() bool { return measure().Fresh })
	c.HangTaskManager(true)
	var m core.Measurement
	eventually(t, "metrics that do not move", func() bool { m = measure(); return !m.Fresh })
	if len(m.SilentTaskManagers) != 1 || !m.Status.AllTasksRunning() {
		t.Errorf("silent: %v, all tasks running: %t", m.SilentTaskManagers, m.Status.AllTasksRunning())
	}
	c.HangTaskManager(false)
	eventually(t, "fresh metrics again", func() bool { return measure().Fresh })
}
