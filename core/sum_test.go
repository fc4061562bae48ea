package core

import (
	"math"
	"testing"
)

func TestWholeIsJavasRound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason  string
		x, want float64
	}{
		{"below a half", 0.49999999999999994, 0},
		{"a half goes up", 0.5, 1},
		{"a half below zero goes up too", -2.5, -2},
		{"more than a half below zero goes down", -2.51, -3},
		{"odd, and too large for a half", 1<<52 + 1, 1<<52 + 1},
		{"no bound", math.Inf(1), math.Inf(1)},
	} {
		if got := Whole(c.x); got != c.want {
			t.Errorf("Whole(%v) = %v; want %v: %s", c.x, got, c.want, c.reason)
		}
	}
	if got := Whole(math.NaN()); !math.IsNaN(got) {
		t.Errorf("Whole(NaN) = %v", got)
	}
}
