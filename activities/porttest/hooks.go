package porttest

import (
	"errors"
	"strings"
	"testing"

	"flinkscaler/core"
)

// hooks runs the cases that need something done to the cluster. Ending the job
// comes last.
func hooks(t *testing.T, h *Harness) {
	if h.Hooks.Twin != nil {
		t.Run("two jobs of one name", func(t *testing.T) { twins(t, h) })
	}
	if h.Hooks.Freeze != nil {
		t.Run("frozen metrics", func(t *testing.T) { frozen(t, h) })
	}
	if h.Hooks.Break != nil {
		t.Run("no answer", func(t *testing.T) { broken(t, h) })
	}
	if h.Hooks.End != nil {
		t.Run("ended", func(t *testing.T) { ended(t, h) })
	}
}

func twins(t *testing.T, h *Harness) {
	ref := h.locate(t)
	end := h.Hooks.Twin(t)
	h.await(t, "two jobs of one name", func() bool {
		_, err := h.Platform.Locate(t.Context(), h.Target)
		return errors.Is(err, core.ErrAmbiguous)
	})
	_, err := h.Platform.Locate(t.Context(), h.Target)
	wantError(t, "locate with two live jobs of the name", err, core.ErrAmbiguous)
	if err == nil || !strings.Contains(err.Error(), ref.ID) {
		t.Errorf("the text does not name the jobs: %v", err)
	}
	end()
	h.await(t, "the second job to end", func() bool {
		only, err := h.Platform.Locate(t.Context(), h.Target)
		return err == nil && only.ID == ref.ID
	})
}

// frozen: a hung TaskManager makes every later measurement not fresh, from the
// first one on, though Flink goes on showing numbers as complete.
func frozen(t *testing.T, h *Harness) {
	ref := h.locate(t)
	h.freshly(t, ref)
	thaw := h.Hooks.Freeze(t)
	for range 2 {
		m, err := h.Platform.Measure(t.Context(), ref, pick)
		if err != nil {
			t.Fatalf("measure with a hung TaskManager: %v", err)
		}
		if m.Fresh {
			t.Errorf("metrics are called fresh with a hung TaskManager: clock %s", m.Clock)
		}
	}
	thaw()
	h.running(t, ref, nil)
	h.freshly(t, ref)
}

func broken(t *testing.T, h *Harness) {
	ref := h.locate(t)
	mend := h.Hooks.Break(t)
	for name, call := range map[string]func() error{
		"locate":  func() error { _, err := h.Platform.Locate(t.Context(), h.Target); return err },
		"measure": func() error { _, err := h.Platform.Measure(t.Context(), ref, pick); return err },
		"status":  func() error { _, err := h.Platform.Status(t.Context(), ref); return err },
		"wanted":  func() error { _, err := h.Platform.Wanted(t.Context(), ref); return err },
		"inspect": func() error { _, err := h.Platform.Inspect(t.Context(), ref); return err },
		"waits":   func() error { _, err := h.Platform.Waits(t.Context(), ref); return err },
		"slots":   func() error { _, err := h.Platform.Slots(t.Context(), ref); return err },
	} {
		err := call()
		if !errors.Is(err, core.ErrUnreachable) && !errors.Is(err, core.ErrNoLeader) {
			t.Errorf("%s while nothing answers: error %v, want unreachable or no leader", name, err)
		}
		if errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s while nothing answers calls the job gone: %v", name, err)
		}
	}
	mend()
	h.await(t, "the cluster to answer again", func() bool {
		_, err := h.Platform.Locate(t.Context(), h.Target)
		return err == nil
	})
}

// ended: a job in a final state is not live, though Flink still shows it; the
// same job submitted again is found under its new id.
func ended(t *testing.T, h *Harness) {
	ref := h.locate(t)
	h.Hooks.End(t)
	h.await(t, "the job to be no longer live", func() bool {
		_, err := h.Platform.Locate(t.Context(), h.Target)
		return errors.Is(err, core.ErrNotFound)
	})
	if m, err := h.Platform.Measure(t.Context(), ref, pick); err == nil {
		if !m.Status.State.Ended() || len(m.Vertices) > 0 || m.Fresh {
			t.Errorf("an ended job was measured: state %s, fresh %v, %d vertices", m.Status.State, m.Fresh, len(m.Vertices))
		}
	} else {
		wantError(t, "measure an ended job", err, core.ErrNotFound)
	}
	_, err := h.Platform.Wanted(t.Context(), ref)
	wantError(t, "wanted of an ended job", err, core.ErrNotFound)
	if h.Hooks.Again == nil {
		return
	}
	h.Hooks.Again(t)
	h.await(t, "the job to be found again", func() bool {
		again, err := h.Platform.Locate(t.Context(), h.Target)
		return err == nil && again.ID != ref.ID
	})
}
