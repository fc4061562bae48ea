package flink

import (
	"testing"
	"time"
)

func TestNamesAreKeptForOneAttempt(t *testing.T) {
	t.Parallel()
	var c nameCache
	start := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	k := nameKey{"job", "vertex"}
	c.put(k, heldNames{attempt: start, at: start.Add(2 * time.Minute), names: []string{"a"}})
	for name, tt := range map[string]struct {
		reason  string
		key     nameKey
		attempt time.Time
		now     time.Time
		want    bool
	}{
		"again":         {"the names of an attempt stay", k, start, start.Add(3 * time.Minute), true},
		"other attempt": {"a rescale may change them", k, start.Add(time.Second), start.Add(3 * time.Minute), false},
		"old":           {"one may have been late", k, start, start.Add(13 * time.Minute), false},
		"other vertex":  {"each has its own", nameKey{"job", "other"}, start, start.Add(3 * time.Minute), false},
		"other job":     {"ids of vertices repeat over jobs", nameKey{"other", "vertex"}, start, start.Add(3 * time.Minute), false},
	} {
		if _, got := c.get(tt.key, tt.attempt, tt.now); got != tt.want {
			t.Errorf("%s: kept %v, want %v (%s)", name, got, tt.want, tt.reason)
		}
	}
}

func TestNamesAreBounded(t *testing.T) {
	t.Parallel()
	var c nameCache
	for i := range maxNames + 5 {
		c.put(nameKey{"job", string(rune(i))}, heldNames{})
	}
	if n := len(c.held); n > maxNames {
		t.Errorf("%d vertices are kept", n)
	}
}
