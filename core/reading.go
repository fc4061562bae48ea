package core

import (
	"encoding/json"
	"fmt"
	"math"
)

// ReadingState says what is known of a reading. The zero value is Missing:
// what nobody filled in is absent, never zero.
type ReadingState uint8

// The states of a reading. Only Present carries a number.
const (
	Missing       ReadingState = iota // was asked for, did not come
	Present                           // a finite number
	Stale                             // an old value, shown as if it were new
	Incomplete                        // covers only a part of the subtasks
	NotApplicable                     // this vertex has no such metric by its nature
)

var readingWords = [...]string{Missing: "missing", Present: "present", Stale: "stale", Incomplete: "incomplete", NotApplicable: "n/a"} //nolint:gochecknoglobals // a constant table

// String gives the state's word, as in JSON.
func (s ReadingState) String() string {
	if int(s) < len(readingWords) {
		return readingWords[s]
	}
	return fmt.Sprintf("ReadingState(%d)", uint8(s))
}

// Reading is one number read from Flink, or the reason why there is none.
// As JSON it is a number when present, else the state's word.
type Reading struct {
	value float64
	state ReadingState
}

// Read makes a reading of a number. NaN and infinities are not numbers one
// can compute with: they become Missing.
func Read(v float64) Reading {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Reading{}
	}
	return Reading{value: v, state: Present}
}

// Absent makes a reading without a number. Absent(Present) is Missing.
func Absent(s ReadingState) Reading {
	if s == Present {
		s = Missing
	}
	return Reading{state: s}
}

// State says what is known.
func (r Reading) State() ReadingState { return r.state }

// Value gives the number and whether there is one.
func (r Reading) Value() (float64, bool) { return r.value, r.state == Present }

// Or gives the number, or the given one where there is none.
func (r Reading) Or(otherwise float64) float64 {
	if r.state == Present {
		return r.value
	}
	return otherwise
}

// Map applies f to a present number; the result passes Read again.
func (r Reading) Map(f func(float64) float64) Reading {
	if r.state != Present {
		return r
	}
	return Read(f(r.value))
}

// String gives the number or the state's word.
func (r Reading) String() string {
	if r.state != Present {
		return r.state.String()
	}
	return fmt.Sprintf("%g", r.value)
}

// Equal is value equality; it lets go-cmp compare readings.
func (r Reading) Equal(o Reading) bool { return r == o }

// MarshalJSON writes a number or the state's word.
func (r Reading) MarshalJSON() ([]byte, error) {
	if r.state != Present {
		return json.Marshal(r.state.String())
	}
	return json.Marshal(r.value)
}

// UnmarshalJSON reads what MarshalJSON wrote; an unknown word is an error.
func (r *Reading) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		var w string
		if err := json.Unmarshal(b, &w); err != nil {
			return err
		}
		for s, word := range readingWords {
			if w == word && ReadingState(s) != Present {
				*r = Reading{state: ReadingState(s)}
				return nil
			}
		}
		return fmt.Errorf("reading: unknown state %q", w)
	}
	var v *float64
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	if v == nil {
		// null is no number, least of all 0.
		*r = Reading{}
		return nil
	}
	*r = Read(*v)
	return nil
}
