package core

import (
	"math"
	"time"
)

// Sum is how a rate by which sizes are judged is made up: what there is to do
// at a share of busy time, what it takes to work off the lag, and the records
// that arrive while a rescale stops the job. Records per second.
type Sum struct {
	Target  float64
	CatchUp float64
	// Utilization is a share of busy time; beyond 0 to 1 it counts as the nearest.
	Utilization float64
	// Restart is how long a rescale stops the job, Within the time in which what
	// arrives meanwhile is worked off; in whole seconds, none where either is.
	Restart, Within time.Duration
}

// Arrears is the rate of what arrives while a rescale stops the job.
func (s Sum) Arrears() float64 {
	within := Seconds(s.Within)
	if within <= 0 {
		return 0
	}
	return float64(s.Target*Seconds(s.Restart)) / within
}

// Rate is the sum, rounded to a whole number. +Inf at no utilization, NaN where
// a rate is.
func (s Sum) Rate() float64 {
	if math.IsNaN(s.Target) || math.IsNaN(s.CatchUp) {
		return math.NaN()
	}
	u := min(max(s.Utilization, 0), 1)
	if u == 0 {
		return math.Inf(1)
	}
	return Whole(float64(s.CatchUp+s.Arrears()) + float64(s.Target/u))
}

// Seconds is a duration as the formulas take it: in whole seconds.
func Seconds(d time.Duration) float64 { return float64(int64(d / time.Second)) }

// Whole rounds to a whole number, halves up, as Java does: adding a half before
// cutting would lift the largest number below a half, and odd ones from 2^52 on.
func Whole(x float64) float64 {
	down := math.Floor(x)
	if x-down >= 0.5 {
		return down + 1
	}
	return down
}

// Terms are the numbers of a policy that a decision's sums are made with. With
// them its text shows each sum, where it comes to the number that was decided
// on.
type Terms struct {
	// Wanted, Most and Least are the utilization that sizes are chosen for, and
	// its bounds.
	Wanted, Most, Least float64
	// Restart is the time that a restart is taken to last, CatchUp the one in
	// which a lag is to be worked off.
	Restart, CatchUp time.Duration
}

// known is false for terms that nobody gave.
func (t Terms) known() bool { return t.Wanted > 0 }
