package flink

import (
	"errors"
	"math"
	"strconv"

	"flinkscaler/core"
)

// number is a number as Flink writes it: JSON for finite ones, the strings
// "NaN", "Infinity" and "-Infinity" for others, and a string for every plain
// metric. What is no finite number becomes NaN. The zero value is for absent.
type number struct {
	value float64
	given bool
}

func (n *number) UnmarshalJSON(b []byte) error {
	text := string(b)
	if text == "null" {
		return nil
	}
	if len(b) >= 2 && b[0] == '"' {
		text = text[1 : len(text)-1]
	} else if len(b) == 0 || (b[0] != '-' && (b[0] < '0' || b[0] > '9')) {
		return errors.New("a number expected")
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) {
		v = math.NaN() // a text such as a plain metric's, or out of range
	}
	*n = number{value: v, given: true}
	return nil
}

// float gives the number, NaN when there is none.
func (n number) float() float64 {
	if !n.given {
		return math.NaN()
	}
	return n.value
}

// reading gives the number as a Reading, Missing when there is none.
func (n number) reading() core.Reading { return core.Read(n.float()) }

// whenComplete gives the number unless Flink says that a part is missing in
// it.
func (n number) whenComplete(complete bool) core.Reading {
	if !complete {
		return core.Absent(core.Incomplete)
	}
	return n.reading()
}
