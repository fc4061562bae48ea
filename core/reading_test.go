package core

import (
	"encoding/json"
	"testing"
)

func TestReadingFromJSON(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]struct {
		reason string
		want   Reading
		bad    bool
	}{
		`0`:            {"a zero that was read is a number", Read(0), false},
		`1.5`:          {"", Read(1.5), false},
		`null`:         {"nothing was written there: never a zero", Reading{}, false},
		`"missing"`:    {"", Reading{}, false},
		`"incomplete"`: {"", Absent(Incomplete), false},
		`"n/a"`:        {"", Absent(NotApplicable), false},
		`"present"`:    {"a word carries no number", Reading{}, true},
		`"soon"`:       {"an unknown word", Reading{}, true},
		`true`:         {"", Reading{}, true},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			var in struct{ R Reading }
			err := json.Unmarshal([]byte(`{"R": `+text+`}`), &in)
			if (err != nil) != c.bad || !in.R.Equal(c.want) {
				t.Errorf("%v, %v; want %v, an error: %v (%s)", in.R, err, c.want, c.bad, c.reason)
			}
		})
	}
}
