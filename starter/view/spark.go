package view

import (
	"math"
	"strings"
)

// Spark draws numbers as a row of bars, the last `width` of them, on a scale
// from 0 to the largest of them but at least `top`. NaN is a dot: nothing
// was known.
func Spark(values []float64, width int, top float64) string {
	if len(values) > width {
		values = values[len(values)-width:]
	}
	for _, v := range values {
		if !math.IsNaN(v) {
			top = max(top, v)
		}
	}
	bars := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, v := range values {
		switch {
		case math.IsNaN(v):
			b.WriteRune('·')
		case top <= 0 || v <= 0:
			b.WriteRune(bars[0])
		default:
			b.WriteRune(bars[min(len(bars)-1, int(v/top*float64(len(bars)-1)+0.5))])
		}
	}
	return b.String()
}
