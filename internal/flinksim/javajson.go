package flinksim

import (
	"math"
	"strconv"
	"strings"
)

// double is a Java double as Jackson writes it: always with a point, with an
// E from ten million on, and as a string where it is no number.
type double float64

// MarshalJSON writes 20.0, 3.0858784E7 or "NaN".
func (d double) MarshalJSON() ([]byte, error) { return []byte(javaJSON(float64(d))), nil }

func javaJSON(f float64) string {
	s := javaDouble(f)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return `"` + s + `"`
	}
	return s
}

// javaDouble is Double.toString.
func javaDouble(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	a := math.Abs(f)
	if a == 0 || (a >= 1e-3 && a < 1e7) {
		s := strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	m, e, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	if !strings.Contains(m, ".") {
		m += ".0"
	}
	n, _ := strconv.Atoi(e)
	return m + "E" + strconv.Itoa(n)
}
