package main

import (
	"testing"
	"time"
)

func TestMoment(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, berlin)
	eve := time.Date(2027, 3, 27, 12, 0, 0, 0, berlin) // clocks go forward in the night
	for name, tt := range map[string]struct {
		reason, text string
		now          time.Time
		want         string // in UTC, empty for an error
	}{
		"with a zone":        {"what programs write", "2026-11-30T18:30:00Z", noon, "2026-11-30T18:30:00Z"},
		"with another zone":  {"it is the same moment everywhere", "2026-11-30T18:30:00+09:00", time.Date(2026, 11, 30, 0, 0, 0, 0, berlin), "2026-11-30T09:30:00Z"},
		"this machine's":     {"Berlin is an hour ahead in winter", "2026-11-30 18:30", noon, "2026-11-30T17:30:00Z"},
		"with a T":           {"likewise", "2026-11-30T18:30", noon, "2026-11-30T17:30:00Z"},
		"today":              {"a time of day to come", "18:30", noon, "2026-11-30T17:30:00Z"},
		"tomorrow":           {"a time of day that is over is tomorrow's", "08:00", noon, "2026-12-01T07:00:00Z"},
		"now":                {"this minute is over as well", "12:00", noon, "2026-12-01T11:00:00Z"},
		"over the change":    {"eight on the clock, not 20 hours later", "08:00", eve, "2027-03-28T06:00:00Z"},
		"the past":           {"it would end at once", "2026-11-30 11:59", noon, ""},
		"a length":           {"that is --for", "2h", noon, ""},
		"no such time":       {"no clock shows it", "25:00", noon, ""},
		"nothing":            {"no time", "", noon, ""},
		"seconds are no use": {"a person means minutes", "18:30:15", noon, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := moment{now: func() time.Time { return tt.now }}
			err := m.Set(tt.text)
			if m.String() != tt.want || (err == nil) != m.given() || m.Type() != "time" {
				t.Errorf("%s: %q is %q, %v; want %q", tt.reason, tt.text, m.String(), err, tt.want)
			}
		})
	}
}
