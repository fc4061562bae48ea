package chaos

import (
	"slices"
	"sync"
	"time"

	"flinkscaler/core"
	"flinkscaler/e2e/proxy"
	"flinkscaler/workflows"
)

// book collects a Record while drivers run.
type book struct {
	mu    sync.Mutex
	lives []submission
	r     Record
	seen  map[Shown]bool
}

// submission is a job that was given to Flink.
type submission struct {
	job, id string
	since   time.Time
}

func newBook() *book { return &book{seen: map[Shown]bool{}} }

// submitted notes that a job runs under an id from a moment on.
func (b *book) submitted(job, id string, since time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lives = append(b.lives, submission{job, id, since})
}

// jobOf names the job with an id of Flink, empty for none.
func (b *book) jobOf(id string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.lives {
		if s.id == id {
			return s.job
		}
	}
	return ""
}

// lastID is the id of a job's newest submission.
func (b *book) lastID(job string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range slices.Backward(b.lives) {
		if s.job == job {
			return s.id
		}
	}
	return ""
}

// lived counts the submissions of a job.
func (b *book) lived(job string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, s := range b.lives {
		if s.job == job {
			n++
		}
	}
	return n
}

func (b *book) ordered(o Order) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.r.Orders = append(b.r.Orders, o)
}

func (b *book) needs(n Need) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.r.Needs = append(b.r.Needs, n)
}

func (b *book) ended(e End) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.r.Ends = append(b.r.Ends, e)
}

// shows notes what a job's history shows. The newest decision is left for the
// next look: its rescale may be about to begin.
func (b *book) shows(job string, h workflows.History) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, o := range h.Rescales {
		b.show(Shown{job, o.DecisionID, false})
	}
	for i, d := range h.Decisions {
		if d.Verdict == core.Change && i < len(h.Decisions)-1 {
			b.show(Shown{job, d.ID, true})
		}
	}
}

func (b *book) show(s Shown) {
	if !b.seen[s] {
		b.seen[s] = true
		b.r.Shown = append(b.r.Shown, s)
	}
}

// writes takes in what the proxy saw.
func (b *book) writes(list []proxy.Write) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range list {
		if w.Lost {
			continue
		}
		body, err := requirements(w.Body)
		if err != nil {
			return err
		}
		out := Write{JobID: w.JobID, At: w.At, Body: body, Status: w.Status, Repeat: w.Repeat}
		if w.Before != "" {
			if out.Before, err = requirements(w.Before); err != nil {
				return err
			}
		}
		for _, s := range b.lives {
			if s.id != w.JobID {
				continue
			}
			if out.Job != "" && s.since.Before(w.Done) {
				out.Life++
			}
			out.Job = s.job
		}
		b.r.Writes = append(b.r.Writes, out)
	}
	return nil
}
