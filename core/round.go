package core

import (
	"math"
	"strconv"
)

// Round3 rounds to three decimal places, half up (away from zero), on the
// shortest decimal form of x, as the Java autoscaler does. A number that would
// become 0 stays as it is, so that a small rate never turns into none. NaN and
// infinities pass.
func Round3(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	var buf [400]byte
	digits := strconv.AppendFloat(buf[:0], x, 'f', -1, 64)
	dot := -1
	for i, c := range digits {
		if c == '.' {
			dot = i
			break
		}
	}
	if dot < 0 || len(digits)-dot-1 <= 3 {
		return x
	}
	up := digits[dot+4] >= '5'
	digits = digits[:dot+4]
	if up {
		digits = increment(digits)
	}
	r, err := strconv.ParseFloat(string(digits), 64)
	if err != nil || r == 0 {
		return x
	}
	return r
}

// increment adds one to the last place of a decimal number, away from zero.
func increment(digits []byte) []byte {
	for i := len(digits) - 1; i >= 0; i-- {
		switch c := digits[i]; {
		case c == '.':
		case c == '9':
			digits[i] = '0'
		case c == '-':
			return append([]byte("-1"), digits[i+1:]...)
		default:
			digits[i]++
			return digits
		}
	}
	return append([]byte("1"), digits...)
}
