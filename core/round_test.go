package core

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestRound3(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]float64{
		0.0001: 0.0001, 0.0004: 0.0004, 0.00049: 0.00049, 0.0005: 0.001, 1.2345: 1.235, 2.0005: 2.001, 1.0005: 1.001, 2.6755: 2.676,
		123456.7895: 123456.79, -0.0004: -0.0004, 0: 0, 7: 7, 0.9996: 1, 9.9995: 10, -9.9995: -10, -1.2344: -1.234, 1e300: 1e300, 99.9999: 100,
	} {
		if got := Round3(x); got != want {
			t.Errorf("Round3(%v) = %v; want %v", x, got, want)
		}
	}
	if !math.IsNaN(Round3(math.NaN())) || !math.IsInf(Round3(math.Inf(-1)), -1) {
		t.Error("NaN and infinities must pass")
	}
}

func TestRound3IsWithinHalfAThousandth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-1e9, 1e9).Draw(t, "x")
		r := Round3(x)
		// The result is the float nearest to three places: half a thousandth, and
		// what one float is apart from the next at that size.
		apart := math.Nextafter(math.Abs(x), math.Inf(1)) - math.Abs(x)
		if math.Abs(r-x) > 0.0005+apart {
			t.Fatalf("Round3(%v) = %v", x, r)
		}
		if s := strconv.FormatFloat(r, 'f', -1, 64); r != x && len(s) > 4 && Round3(r) != r {
			t.Fatalf("Round3 is not stable: %v -> %v -> %v", x, r, Round3(r))
		}
	})
}

// TestRoundingByArithmeticIsRoundingByDigits: wherever the fast way says that
// it is sure, the digits give the same float64.
func TestRoundingByArithmeticIsRoundingByDigits(t *testing.T) {
	t.Parallel()
	sure := 0
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.OneOf(
			rapid.Float64(), rapid.Float64Range(-2e6, 2e6), rapid.Float64Range(-1, 1), rapid.Float64Range(-0.002, 0.002),
			rapid.Map(rapid.IntRange(-1e9, 1e9), func(n int) float64 { return float64(n) / 2000 }),
			rapid.Map(rapid.IntRange(-1e9, 1e9), func(n int) float64 { return math.Nextafter(float64(n)/2000, 0) }),
		).Draw(t, "x")
		fast, ok := roundClear(x)
		if !ok {
			return
		}
		sure++
		if slow := roundDecimal(x); math.Float64bits(fast) != math.Float64bits(slow) {
			t.Fatalf("%v: %v by arithmetic, %v by digits", x, fast, slow)
		}
	})
	if sure == 0 {
		t.Error("it was never sure: nothing was compared")
	}
}
