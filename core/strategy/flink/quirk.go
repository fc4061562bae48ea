package flink

import "flinkscaler/core"

// downAsReleased is the delay of the release: a smaller size is wanted at once,
// but as long as the delay runs only by the way, when another vertex must
// change. What is taken is the newest size, not the largest of that time.
func (s *settling) downAsReleased() {
	d, now, delay := &s.d, s.job.Now, s.job.Policy.ScaleDownInterval
	d.Why = core.ReasonScaleDown
	if delay <= 0 {
		return
	}
	v := s.book.Delays.Record(d.ID, core.DelayedEntry{At: now, Parallelism: d.Wanted, Outside: d.Outside})
	if now.Equal(v.First) || now.Before(v.First.Add(delay)) {
		d.Outside = false
	}
}
