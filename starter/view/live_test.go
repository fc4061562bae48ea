package view

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"flinkscaler/core"
	"flinkscaler/workflows"
)

// scene is a job that is watched through a rescale.
func scene(t *testing.T, l *Live) {
	t.Helper()
	first := watching()
	moved := watching()
	moved.Cycle, moved.Vertices[1].Load, moved.Lag = 18, core.Read(0.7), core.Read(2000)
	grown := watching()
	grown.Cycle, grown.Vertices[1].Parallelism, grown.Vertices[1].Wanted = 20, 6, 6
	for _, step := range []func() error{
		func() error { return l.Show(first, nil) },
		func() error { return l.Show(first, nil) },
		func() error { return l.Show(moved, nil) },
		func() error { return l.Show(rescaling(), nil) },
		func() error { return l.Show(rescaling(), underWay(0)) },
		func() error { return l.Show(rescaling(), underWay(2)) },
		func() error { return l.Trouble("no worker answered\x1b[2J") },
		func() error { return l.Trouble("no worker answered\x1b[2J") },
		func() error { return l.Show(grown, nil) },
		l.Close,
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
}

// underWay is how far the rescale of the scene is, after so many restarts.
func underWay(restarts int) *Progress {
	return &Progress{
		RescaleProgress: workflows.RescaleProgress{Attempt: 3, Phase: "waiting for the new size", Since: before(8 * time.Second), Deadline: after(4 * time.Minute), DeadlineWhy: "twice 60 s"},
		Beat:            &workflows.RescaleBeat{Reached: 1, Total: 3, Slots: &core.Slots{Total: 8, Free: 2}, Restarts: make([]time.Time, restarts)},
	}
}

func TestLiveLines(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	scene(t, NewLive(&b, Options{Now: now}))
	golden(t, "live-lines", "where the cursor cannot move there is one line per change; load and lag alone are no change", b.String())
}

func TestLiveInPlace(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	scene(t, NewLive(&b, Options{Terminal: true, Now: now, Size: func() (int, int) { return 80, 12 }}))
	golden(t, "live-in-place", "each frame overwrites the one before, never wraps and never scrolls; at the end the cursor is back", visible(b.String()))
}

// TestLiveFooter: it stays at its place below the highest status, and goes at
// the end.
func TestLiveFooter(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	l := NewLive(&b, Options{Terminal: true, Now: now, Size: func() (int, int) { return 80, 24 }, Footer: func() []string { return []string{"  UI  http://ui"} }})
	low := watching()
	low.Vertices = low.Vertices[:1]
	for _, step := range []func() error{
		func() error { return l.Trouble("no answer yet") },
		func() error { return l.Show(rescaling(), nil) },
		func() error { return l.Show(low, nil) },
		l.Close,
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "live-footer", "the footer never moves up and is gone at the end; two lines are kept for the note", visible(b.String()))
}

// TestLiveFits: on no terminal does a frame get wider or higher than it.
func TestLiveFits(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{20, 5}, {40, 10}, {80, 24}, {200, 60}} {
		for _, s := range []workflows.Status{watching(), rescaling(), ordered(), blocked(), hostile()} {
			var b bytes.Buffer
			l := NewLive(&b, Options{
				Terminal: true, Colour: true, Now: now, Size: func() (int, int) { return size[0], size[1] },
				Footer: func() []string { return []string{"a footer of one line", strings.Repeat("long ", 30)} },
			})
			if err := l.Show(s, nil); err != nil {
				t.Fatal(err)
			}
			frame := strings.NewReplacer("\x1b[?25l", "", "\x1b[K", "", "\x1b[J", "", "\r", "").Replace(b.String())
			lines := strings.Split(strings.TrimSuffix(stripColour(frame), "\n"), "\n")
			if len(lines) >= size[1] {
				t.Errorf("%v %s: %d lines", size, s.State, len(lines))
			}
			for _, line := range lines {
				if n := len([]rune(line)); n > size[0] {
					t.Errorf("%v %s: %d wide: %s", size, s.State, n, line)
				}
			}
		}
	}
}

func TestLiveRemembersABoundedPast(t *testing.T) {
	t.Parallel()
	l := NewLive(&bytes.Buffer{}, Options{Now: func() time.Time { return now() }})
	for i := range 1000 {
		s := watching()
		s.Cycle = i
		if err := l.Show(s, nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(l.load) != maxPoints || len(l.lag) != maxPoints {
		t.Errorf("kept %d and %d points, want %d", len(l.load), len(l.lag), maxPoints)
	}
}
