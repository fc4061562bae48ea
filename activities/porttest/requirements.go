package porttest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
)

func requirements(t *testing.T, h *Harness) {
	ref := h.locate(t)
	before, err := h.Platform.Wanted(t.Context(), ref)
	if err != nil {
		t.Fatalf("wanted: %v", err)
	}
	status := h.running(t, ref, nil)
	checkWanted(t, before, status.Topology)
	t.Run("refused", func(t *testing.T) { refused(t, h, ref, before) })
	t.Run("changed", func(t *testing.T) { changed(t, h, ref, before) })
	ref = h.locate(t)
	_, err = h.Platform.Wanted(t.Context(), h.gone(t))
	wantError(t, "wanted of a job that was never there", err, core.ErrNotFound)
	err = h.Platform.Want(t.Context(), h.gone(t), "d1", before)
	wantError(t, "want for a job that was never there", err, core.ErrNotFound)
}

func checkWanted(t *testing.T, r core.Requirements, topology core.Topology) {
	t.Helper()
	if len(r) != len(topology.Vertices) {
		t.Fatalf("bounds of %d vertices, %d in the graph", len(r), len(topology.Vertices))
	}
	for i, b := range r {
		if b.ID != topology.Vertices[i].ID || b.Lower < 1 || b.Upper < b.Lower {
			t.Errorf("bounds %d: %+v for vertex %s", i, b, topology.Vertices[i].ID)
		}
	}
}

// edited gives a copy with one vertex changed.
func edited(r core.Requirements, id string, edit func(*core.Bounds)) core.Requirements {
	out := slices.Clone(r)
	for i := range out {
		if out[i].ID == id {
			edit(&out[i])
		}
	}
	return out
}

// refused: what is invalid is refused for good, with a text, and changes
// nothing.
func refused(t *testing.T, h *Harness, ref core.JobRef, before core.Requirements) {
	slow := vertex(t, h.running(t, ref, nil).Topology, h.Slow)
	for name, bad := range map[string]core.Requirements{
		"an unknown vertex":   append(slices.Clone(before), core.Bounds{ID: strings.Repeat("f", 32), Lower: 1, Upper: 1}),
		"a missing vertex":    slices.DeleteFunc(slices.Clone(before), func(b core.Bounds) bool { return b.ID == slow.ID }),
		"no vertex":           {},
		"a vertex twice":      append(slices.Clone(before), before[0]),
		"above the maximum":   edited(before, slow.ID, func(b *core.Bounds) { b.Upper = slow.MaxParallelism + 1 }),
		"zero":                edited(before, slow.ID, func(b *core.Bounds) { b.Lower, b.Upper = 0, 0 }),
		"a lower above upper": edited(before, slow.ID, func(b *core.Bounds) { b.Lower, b.Upper = 2, 1 }),
		"a raised lower":      edited(before, slow.ID, func(b *core.Bounds) { b.Lower, b.Upper = b.Lower+1, max(b.Upper, b.Lower+1) }),
	} {
		err := h.Platform.Want(t.Context(), ref, "d1", bad)
		wantError(t, name, err, core.ErrRefused)
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error has more than one line: %q", name, err)
		}
		after, err := h.Platform.Wanted(t.Context(), ref)
		if diff := cmp.Diff(before, after); err != nil || diff != "" {
			t.Errorf("%s: was refused and yet changed something (-before +after): %v\n%s", name, err, diff)
		}
	}
}

// changed: a valid list is taken, shown at once, and the job gets there by
// restarting once; the same list again does nothing.
func changed(t *testing.T, h *Harness, ref core.JobRef, before core.Requirements) {
	status := h.running(t, ref, nil)
	was := vertex(t, status.Topology, h.Slow).Parallelism
	up, size := h.larger(t, before, status.Topology)
	h.want(t, ref, up)
	ref, grown := h.changed(t, ref, size)
	if !grown.RunningSince.After(status.RunningSince) {
		t.Errorf("running since %s, before the change since %s", grown.RunningSince, status.RunningSince)
	}
	if grown.StartedAt.Equal(status.StartedAt) == h.Means.Restarts {
		t.Errorf("started at %s, before the change at %s", grown.StartedAt, status.StartedAt)
	}
	h.want(t, ref, up)
	m := h.freshly(t, ref) // takes as long as the cluster needs to look at everything
	if !m.Status.RunningSince.Equal(grown.RunningSince) {
		t.Errorf("the same requirements again restarted the job at %s", m.Status.RunningSince)
	}
	h.want(t, ref, before)
	h.changed(t, ref, was)
}

// want sets requirements and checks that they are shown. A platform that is on its
// way from one change to the next may not take another one yet.
func (h *Harness) want(t *testing.T, ref core.JobRef, r core.Requirements) {
	t.Helper()
	h.await(t, "what is wanted to be taken", func() bool {
		err := h.Platform.Want(t.Context(), ref, "d1", r)
		passing := (h.Means.Elastic || h.Means.Restarts) && (errors.Is(err, core.ErrBusy) || errors.Is(err, core.ErrNotReady))
		if err != nil && !passing {
			t.Fatalf("want %+v: %v", r, err)
		}
		return err == nil
	})
	if h.Means.Restarts {
		h.await(t, "what is wanted to be shown of the job that was started anew", func() bool {
			now, err := h.Platform.Locate(t.Context(), h.Target)
			if err != nil {
				return false
			}
			got, err := h.Platform.Wanted(t.Context(), now)
			return err == nil && slices.Equal(r, got)
		})
		return
	}
	got, err := h.Platform.Wanted(t.Context(), ref)
	if diff := cmp.Diff(r, got); err != nil || diff != "" {
		t.Fatalf("wanted after want (-set +shown): %v\n%s", err, diff)
	}
}
