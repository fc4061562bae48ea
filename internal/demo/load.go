package demo

import (
	"fmt"
	"time"

	"flinkscaler/starter/view"
	"flinkscaler/workflows"
)

// The rates of the demo, in records/s. At the target of the policy the rush
// needs four subtasks of the vertex that does the work, the quiet time two.
const (
	quiet   = 800.0
	rush    = 2600.0
	perTask = 1000.0
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
	// fits is since when the job's size is right for the phase.
	fits time.Time
}

// begin begins a phase; the first one is quiet.
func (t *tide) begin(now time.Time, rate float64) error {
	t.rate, t.began, t.fits = rate, now, time.Time{}
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
		return t.begin(now, quiet)
	}
	return t.begin(now, rush)
}

// fitting is true when the job is large enough for a rush, or too small for one
// when there is none.
func (t *tide) fitting(s workflows.Status) bool {
	if s.Parallelism == 0 || s.Rescale != nil {
		return false
	}
	return (float64(s.Parallelism)*perTask >= rush) == (t.rate == rush)
}

// say says what arrives, and until when.
func (t *tide) say(now time.Time) string {
	name, until := "quiet", "until the job has shrunk"
	if t.rate == rush {
		name, until = "a rush", "until the job has grown"
	}
	if !t.fits.IsZero() {
		until = "for " + view.Duration(max(0, linger-now.Sub(t.fits)).Round(time.Second)) + " more"
	}
	return fmt.Sprintf("%.0f records/s, %s %s", t.rate, name, until)
}
