package demo

import (
	"fmt"
	"time"

	"flinkscaler/starter/view"
	"flinkscaler/workflows"
)

// The rates of the demo, in records/s. One subtask of the vertex that does the
// work handles 1,000: the rush needs four of them at the target of the policy,
// the quiet time two.
const (
	quiet = 800.0
	rush  = 2600.0
)

// linger is how long the load stays after the job was made to fit: so long one
// sees the backlog shrink. longest is how long it waits for that: a job that is
// paused or pinned by hand shall not fall behind for ever.
const (
	linger  = 8 * time.Second
	longest = time.Minute
)

// tide is the load of the demo: quiet, a rush, quiet, and so on. It turns when
// the job was made to fit, so that a slow machine shows the same as a fast one.
type tide struct {
	// set changes the rate at which records arrive.
	set func(perSecond float64) error

	rate  float64
	began time.Time
	// size is the job's at the beginning of the phase, 0 when it was unknown.
	size int
	// fits is since when the size is that of the phase.
	fits time.Time
}

// begin begins with the quiet time.
func (t *tide) begin(now time.Time) error { return t.turn(now, quiet, 0) }

func (t *tide) turn(now time.Time, rate float64, size int) error {
	t.rate, t.began, t.size, t.fits = rate, now, size, time.Time{}
	return t.set(rate)
}

// look sees what became of the job, and turns when it is time.
func (t *tide) look(now time.Time, s workflows.Status) error {
	if t.fits.IsZero() && t.fitting(s) {
		t.fits = now
	}
	if now.Sub(t.began) < longest && (t.fits.IsZero() || now.Sub(t.fits) < linger) {
		return nil
	}
	if t.rate == rush {
		return t.turn(now, quiet, s.Parallelism)
	}
	return t.turn(now, rush, s.Parallelism)
}

// fitting is true when the job was rescaled as the phase wants it; it starts
// with the size for the quiet time.
func (t *tide) fitting(s workflows.Status) bool {
	switch {
	case s.Parallelism == 0 || s.Rescale != nil:
		return false
	case t.size == 0:
		return true
	case t.rate == rush:
		return s.Parallelism > t.size
	}
	return s.Parallelism < t.size
}

// say says what arrives, and until when.
func (t *tide) say(now time.Time) string {
	name, until := "quiet", "until the job has shrunk"
	if t.rate == rush {
		name, until = "a rush", "until the job has grown"
	}
	switch {
	case !t.fits.IsZero():
		until = "for " + view.Duration(max(0, linger-now.Sub(t.fits)).Round(time.Second)) + " more"
	case t.size == 0:
		until = "until the job is known"
	}
	return fmt.Sprintf("%.0f records/s, %s %s", t.rate, name, until)
}
