package porttest

import (
	"context"
	"errors"
	"testing"
	"time"

	"flinkscaler/core"
)

// Run tests a platform. The cases run one after another: they change one job.
func Run(t *testing.T, h Harness) {
	t.Helper()
	h.check(t)
	ref := h.locate(t)
	h.running(t, ref, nil)
	t.Run("locate", func(t *testing.T) { locating(t, &h) })
	t.Run("measure", func(t *testing.T) { measuring(t, &h) })
	t.Run("requirements", func(t *testing.T) { requirements(t, &h) })
	t.Run("inspect", func(t *testing.T) { inspecting(t, &h) })
	t.Run("waits and slots", func(t *testing.T) { capacity(t, &h) })
	t.Run("cancelled", func(t *testing.T) { cancelled(t, &h) })
	t.Run("hooks", func(t *testing.T) { hooks(t, &h) })
}

// sentinels are the meanings that an error of a port can have.
func sentinels() []error {
	return []error{
		core.ErrNotFound, core.ErrAmbiguous, core.ErrUnreachable, core.ErrNoLeader, core.ErrBusy, core.ErrNotReady,
		core.ErrNotAdaptive, core.ErrRefused, core.ErrUnauthorized, core.ErrNotFlink,
	}
}

// wantError checks that an error has this meaning and no other.
func wantError(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %q", what, err, want)
		return
	}
	for _, other := range sentinels() {
		if errors.Is(other, want) {
			continue
		}
		if errors.Is(err, other) {
			t.Errorf("%s: error %v means %q as well as %q", what, err, other, want)
		}
	}
}

func locating(t *testing.T, h *Harness) {
	ref := h.locate(t)
	if ref.ID == "" || ref.Name == "" || ref.FlinkVersion == "" || ref.State.Ended() {
		t.Errorf("a live job was found without id, name, version or with an ended state: %+v", ref)
	}
	if m := means(ref); m.Uniform != h.Means.Uniform || m.Step != h.Means.Step || m.Restarts != h.Means.Restarts || m.Elastic != h.Means.Elastic {
		t.Errorf("the size is changed by %+v, the harness says %+v", m, h.Means)
	}
	again := h.locate(t)
	if again.ID != ref.ID {
		t.Errorf("the same target gave %s, then %s", ref.ID, again.ID)
	}
	_, err := h.Platform.Locate(t.Context(), h.Absent)
	wantError(t, "locate a job that was never there", err, core.ErrNotFound)
	if _, err := h.Platform.Locate(t.Context(), core.Target{}); err == nil {
		t.Error("locate without a target: no error")
	}
}

func inspecting(t *testing.T, h *Harness) {
	ref := h.locate(t)
	health, err := h.Platform.Inspect(t.Context(), ref)
	if err != nil {
		t.Fatalf("inspect: %v", err)
	}
	if health.Checkpointing != h.Checkpointing {
		t.Fatalf("checkpointing %v, want %v: %+v", health.Checkpointing, h.Checkpointing, health)
	}
	if h.Checkpointing {
		if health.Interval <= 0 {
			t.Errorf("no interval: %+v", health)
		}
		h.await(t, "a completed checkpoint", func() bool {
			health, err = h.Platform.Inspect(t.Context(), ref)
			return err == nil && !health.LastCompleted.IsZero() && health.StateSize.State() == core.Present
		})
	}
	_, err = h.Platform.Inspect(t.Context(), h.gone(t))
	wantError(t, "inspect a job that was never there", err, core.ErrNotFound)
}

// capacity: what a rescale waits for and what it can get is known, and the slots
// that a job takes are not free.
func capacity(t *testing.T, h *Harness) {
	ref := h.locate(t)
	w, err := h.Platform.Waits(t.Context(), ref)
	if err != nil {
		t.Fatalf("waits: %v", err)
	}
	for name, d := range map[string]time.Duration{"cooldown": w.Cooldown, "stabilization": w.Stabilization, "max delay": w.MaxDelay, "settle": w.Settle} {
		if d < 0 || d > 24*time.Hour {
			t.Errorf("%s of %s: %+v", name, d, w)
		}
	}
	if w.ResourceWait <= 0 {
		t.Errorf("no wait for resources: %+v", w)
	}
	_, err = h.Platform.Waits(t.Context(), h.gone(t))
	wantError(t, "waits of a job that was never there", err, core.ErrNotFound)
	// Slots that a job gave back count as taken for a while (slot.idle.timeout).
	status := h.running(t, ref, nil)
	used := slotsUsed(status.Topology)
	var before core.Slots
	h.await(t, "all slots but those of the job to be free", func() bool {
		before, err = h.Platform.Slots(t.Context(), ref)
		return err == nil && before.Free == before.Total-used
	})
	if before.Elastic != h.Elastic || before.Free < 1 && !h.Means.Elastic {
		t.Errorf("slots of a running job: %+v, elastic must be %v", before, h.Elastic)
	}
	bounds, err := h.Platform.Wanted(t.Context(), ref)
	if err != nil {
		t.Fatalf("wanted: %v", err)
	}
	was := vertex(t, status.Topology, h.Slow).Parallelism
	up, size := h.larger(t, bounds, status.Topology)
	h.want(t, ref, up)
	ref, status = h.changed(t, ref, size)
	h.await(t, "the slots of the larger size not to be free", func() bool {
		now, err := h.Platform.Slots(t.Context(), ref)
		return err == nil && now.Free == now.Total-slotsUsed(status.Topology) && (now.Total == before.Total || h.Means.Elastic)
	})
	h.want(t, ref, bounds)
	h.changed(t, ref, was)
}

// slotsUsed is what the sizes of a job take: of each slot sharing group the
// largest vertex.
func slotsUsed(topology core.Topology) int {
	groups, n := map[string]int{}, 0
	for _, v := range topology.Vertices {
		groups[v.SlotGroup] = max(groups[v.SlotGroup], v.Parallelism)
	}
	for _, p := range groups {
		n += p
	}
	return n
}

// quick is how soon a call must return once its ctx has ended.
const quick = 2 * time.Second

func cancelled(t *testing.T, h *Harness) {
	ref := h.locate(t)
	wanted, err := h.Platform.Wanted(t.Context(), ref)
	if err != nil {
		t.Fatalf("wanted: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range map[string]func() error{
		"locate":  func() error { _, err := h.Platform.Locate(ctx, h.Target); return err },
		"measure": func() error { _, err := h.Platform.Measure(ctx, ref, pick); return err },
		"status":  func() error { _, err := h.Platform.Status(ctx, ref); return err },
		"wanted":  func() error { _, err := h.Platform.Wanted(ctx, ref); return err },
		"want":    func() error { return h.Platform.Want(ctx, ref, "d1", wanted) },
		"inspect": func() error { _, err := h.Platform.Inspect(ctx, ref); return err },
		"waits":   func() error { _, err := h.Platform.Waits(ctx, ref); return err },
		"slots":   func() error { _, err := h.Platform.Slots(ctx, ref); return err },
	} {
		began := time.Now()
		err := call()
		if !errors.Is(err, core.ErrUnreachable) && !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a cancelled ctx: error %v, want unreachable or cancelled", name, err)
		}
		if took := time.Since(began); took > quick {
			t.Errorf("%s with a cancelled ctx took %s", name, took)
		}
	}
	if _, err := h.Platform.Status(t.Context(), ref); err != nil {
		t.Errorf("status after cancelled calls: %v", err)
	}
}
