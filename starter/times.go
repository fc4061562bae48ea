package main

import (
	"errors"
	"strings"
	"time"

	"flinkscaler/internal/flags"
)

// period is a flag for a length of time.
type period = flags.Period

// moment is a flag for a time to come, with its zone or on this machine's
// clock. It is sent, and shown, in UTC.
type moment struct {
	at  time.Time
	now func() time.Time
}

// String gives the time in UTC, nothing for none.
func (m *moment) String() string {
	if m.at.IsZero() {
		return ""
	}
	return m.at.UTC().Format(time.RFC3339)
}

// Type is what cobra shows as the flag's value.
func (m *moment) Type() string { return "time" }

func (m *moment) given() bool { return !m.at.IsZero() }

// Set reads the flag. A time of day is the next one.
func (m *moment) Set(text string) error {
	now := m.now()
	at, err := parseMoment(strings.TrimSpace(text), now)
	switch {
	case err != nil:
		return err
	case !at.After(now):
		return errors.New("is in the past")
	}
	m.at = at
	return nil
}

func parseMoment(text string, now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	for _, form := range []string{"2006-01-02 15:04", "2006-01-02T15:04"} {
		if at, err := time.ParseInLocation(form, text, now.Location()); err == nil {
			return at, nil
		}
	}
	day, err := time.Parse("15:04", text)
	if err != nil {
		return time.Time{}, errors.New("must be a time such as 18:30, \"2026-11-30 18:30\" or 2026-11-30T18:30:00Z")
	}
	at := func(days int) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day()+days, day.Hour(), day.Minute(), 0, 0, now.Location())
	}
	if today := at(0); today.After(now) {
		return today, nil
	}
	return at(1), nil
}
