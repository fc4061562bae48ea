package flink

import (
	"math"
	"slices"
	"testing"
	"time"

	"flinkscaler/core"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]time.Duration{
		"1000": time.Second, "10 s": 10 * time.Second, "10s": 10 * time.Second, "5 min": 5 * time.Minute, " 2 H ": 2 * time.Hour,
		"500 ms": 500 * time.Millisecond, "1 d": 24 * time.Hour, "3 seconds": 3 * time.Second, "7 µs": 7 * time.Microsecond, "0": 0,
	} {
		if got, ok := parseDuration(s); !ok || got != want {
			t.Errorf("%q is %s, %v; want %s", s, got, ok, want)
		}
	}
	for _, s := range []string{"", "s", "-1 s", "1.5 s", "10 parsecs", "99999999999999999999", "9223372036854775807", "9999999999 d"} {
		if got, ok := parseDuration(s); ok {
			t.Errorf("%q is %s", s, got)
		}
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"1": 1, "-2.5E3": -2500, `"7"`: 7, `"12.5"`: 12.5} {
		if n, err := fromJSON[number]([]byte(text)); err != nil || n.float() != want {
			t.Errorf("%s is %v, %v; want %v", text, n.float(), err, want)
		}
	}
	for _, text := range []string{`"NaN"`, `"Infinity"`, `"-Infinity"`, "1e999", "null", `""`, `"n/a"`} {
		n, err := fromJSON[number]([]byte(text))
		if err != nil || !math.IsNaN(n.float()) || n.reading().State() != core.Missing {
			t.Errorf("%s is %v, %v", text, n.float(), err)
		}
	}
	for _, text := range []string{"{}", "[]", "true"} {
		if n, err := fromJSON[number]([]byte(text)); err == nil {
			t.Errorf("%s is %v", text, n.float())
		}
	}
	one := number{value: 1, given: true}
	if got := one.whenComplete(false).State(); got != core.Incomplete {
		t.Errorf("a partial number is %s", got)
	}
}

func TestShortErrorTexts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                          "no reason given",
		"Internal server error.":    "no reason given",
		"java.lang.Error: a: b":     "a: b",
		"x.AException: y.BError: c": "c",
		"a\nb\n\tat c\nd":           "a; b",
		"a\x1b[31mb":                "a [31mb",
		"Job vertex [1] missing.":   "Job vertex [1] missing.",
		"Internal server error.\n<Exception on server side:\njava.lang.IllegalStateException: c\n\tat d\nEnd of exception on server side>": "c",
	} {
		if got := firstWords(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	if got := cut("ääää", 5); got != "ä…" {
		t.Errorf("cut between bytes: %q", got)
	}
}

func TestPollIsGentle(t *testing.T) {
	t.Parallel()
	for interval, want := range map[time.Duration]time.Duration{
		0: 100 * time.Millisecond, time.Second: 100 * time.Millisecond, 10 * time.Second: 250 * time.Millisecond, time.Hour: 500 * time.Millisecond,
	} {
		if got := pollEvery(interval); got != want {
			t.Errorf("every %s for a fetch interval of %s, want %s", got, interval, want)
		}
	}
}

// TestUnspeakable: what may be a secret, and what all may read.
func TestUnspeakable(t *testing.T) {
	t.Parallel()
	got := Unspeakable([]string{"--name", "orders", "--token", "s3cret-token", "--password=hunter22", "-Dkey=value", "8", "plain"}, "orders")
	if want := []string{"s3cret-token", "hunter22", "value", "plain"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
