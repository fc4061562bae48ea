package flink

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
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

func TestSharedAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s shared[int]
		var loads atomic.Int32
		load := func(context.Context) (int, error) {
			time.Sleep(time.Second)
			return int(loads.Add(1)), nil
		}
		// Those who ask while another's question is under way get an answer
		// that was asked for after they asked: the second load serves them all.
		for range 10 {
			go func() { _, _ = s.get(t.Context(), 0, load) }()
		}
		synctest.Wait()
		time.Sleep(3 * time.Second)
		if n := loads.Load(); n > 2 {
			t.Errorf("%d loads for ten that asked at once", n)
		}
		before := loads.Load()
		if v, err := s.get(t.Context(), time.Minute, load); err != nil || v != int(before) {
			t.Errorf("%d, %v: an answer of this minute is good enough", v, err)
		}
		if v, err := s.get(t.Context(), 0, load); err != nil || v != int(before)+1 {
			t.Errorf("%d, %v: nothing old was to be given", v, err)
		}
	})
}

func TestSharedFailures(t *testing.T) {
	t.Parallel()
	var s shared[int]
	broken := errors.New("broken")
	fail := func(ctx context.Context) (int, error) { return 0, errors.Join(broken, ctx.Err()) }
	if _, ok := s.getOrLast(t.Context(), time.Minute, fail); ok {
		t.Error("there is an answer though there never was one")
	}
	if _, err := s.get(t.Context(), time.Minute, func(context.Context) (int, error) { return 1, nil }); !errors.Is(err, broken) {
		t.Errorf("%v: a failure is shared as well", err)
	}
	if v, err := s.get(t.Context(), 0, func(context.Context) (int, error) { return 1, nil }); err != nil || v != 1 {
		t.Errorf("%d, %v", v, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 { // whichever way the select goes
		if _, err := s.get(gone, 0, fail); err == nil {
			t.Error("no error with a ctx that ended")
		}
	}
	if v, err := s.get(t.Context(), time.Hour, fail); err != nil || v != 1 {
		t.Errorf("%d, %v: one caller's ctx is no answer for others", v, err)
	}
	if v, ok := s.getOrLast(t.Context(), 0, fail); !ok || v != 1 {
		t.Errorf("%d, %v: the last good answer is kept", v, ok)
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
