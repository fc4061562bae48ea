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
	if r, ok := roundClear(x); ok {
		return r
	}
	return roundDecimal(x)
}

// Where roundClear is sure: below clearMost thousandths are whole numbers of a
// float64 with places to spare, and clearOf from a tie no error of the product
// can turn it.
const (
	clearMost = 1e9
	clearOf   = 1e-3
)

// roundClear rounds by arithmetic where x is clearly nearer to one thousandth
// than to the next. A whole number over 1000 is the float64 nearest to that
// decimal, which is what roundDecimal finds by its digits.
func roundClear(x float64) (float64, bool) {
	thousandths := math.Abs(x) * 1000
	whole := math.Floor(thousandths)
	rest := thousandths - whole
	if thousandths >= clearMost || math.Abs(rest-0.5) < clearOf {
		return 0, false
	}
	if rest > 0.5 {
		whole++
	}
	if whole == 0 {
		return x, true
	}
	return math.Copysign(whole/1000, x), true
}

// roundDecimal rounds on the digits.
func roundDecimal(x float64) float64 {
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
