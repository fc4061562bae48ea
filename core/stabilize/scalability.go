package stabilize

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// Coefficient is how well past sizes of a vertex scaled: 1 when twice the
// subtasks did twice as much, less when they did not. It lies above 0 and at
// most at 1. The note says where one below 1 comes from, and why there is none
// though it is asked for.
//
// With too few observations, or one without a rate above 0, it is 1: one idle
// vertex must not keep the others from being judged (FLINK-39890).
func Coefficient(h core.VertexHistory, p policy.Policy) (float64, string) {
	if !p.ObservedScalability {
		return 1, ""
	}
	if n := len(h.Changes); n < p.ObservedScalabilityMin {
		return 1, fmt.Sprintf("%d of %d past changes to learn from", n, p.ObservedScalabilityMin)
	}
	raw, ok := leastSquares(h.Changes)
	if !ok {
		return 1, "a past change without a rate to learn from"
	}
	c := ceil2(max(p.ObservedScalabilityFloor, min(1, raw)))
	if !(c > 0 && c < 1) {
		return 1, ""
	}
	return c, fmt.Sprintf("%d past sizes did %g of what linear scaling would", len(h.Changes), c)
}

// leastSquares fits rate = a x base x parallelism to the rates before each
// change, and gives a.
func leastSquares(changes []core.Scaled) (float64, bool) {
	base, sum, squares := perSubtask(changes), 0.0, 0.0
	for _, c := range changes {
		rate, ok := c.TrueRate.Value()
		if !ok || rate <= 0 {
			return 0, false
		}
		size := float64(c.From)
		sum += float64(size * rate)
		squares += float64(size * size)
	}
	a := sum / float64(squares*base)
	return a, a > 0 && !math.IsInf(a, 0)
}

// perSubtask is the rate of one subtask at the smallest size, the newest of
// equal ones: what linear scaling is measured against.
func perSubtask(changes []core.Scaled) float64 {
	size, rate := 0, 0.0
	for _, c := range slices.Backward(changes) {
		if size == 0 || c.From < size {
			size, rate = c.From, c.TrueRate.Or(0)
		}
	}
	return rate / float64(size)
}

// ceil2 rounds a positive number up to two decimal places, on its shortest
// decimal form: 0.57 stays 0.57, though as a float64 it times 100 is more than
// 57.
func ceil2(x float64) float64 {
	digits := strconv.FormatFloat(x, 'f', -1, 64)
	i := slices.Index([]byte(digits), '.')
	if i < 0 || len(digits) <= i+3 {
		return x
	}
	down, err := strconv.ParseFloat(digits[:i+3], 64)
	if err != nil {
		return x
	}
	return math.Round(down*100+1) / 100
}
