package demo

import "time"

// step is a rate of arrivals for a while.
type step struct {
	rate float64
	span time.Duration
}

// cycle is the load of the demo, over and over: a quiet time, a rush that
// needs four subtasks of 1,000 records/s each, and a quiet time again. It is
// short enough that a minute shows a change in both directions.
func cycle() []step {
	return []step{{800, 6 * time.Second}, {2600, 18 * time.Second}, {800, 26 * time.Second}}
}

// wave is the cycle as a function of time; it satisfies flinksim.Load.
type wave []step

// Rate gives the rate d after the start and until when it stays.
func (w wave) Rate(d time.Duration) (float64, time.Duration) {
	var total time.Duration
	for _, s := range w {
		total += s.span
	}
	began := d - d%total
	end := began
	for _, s := range w {
		end += s.span
		if d < end {
			return s.rate, end
		}
	}
	return w[len(w)-1].rate, began + total
}

// String names the load.
func (w wave) String() string { return "demo" }
