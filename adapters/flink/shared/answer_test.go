package shared

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s Answer[int]
		var loads atomic.Int32
		load := func(context.Context) (int, error) {
			time.Sleep(time.Second)
			return int(loads.Add(1)), nil
		}
		// Those who ask while another's question is under way get an answer
		// that was asked for after they asked: the second load serves them all.
		for range 10 {
			go func() { _, _ = s.Get(t.Context(), 0, load) }()
		}
		synctest.Wait()
		time.Sleep(3 * time.Second)
		if n := loads.Load(); n > 2 {
			t.Errorf("%d loads for ten that asked at once", n)
		}
		before := loads.Load()
		if v, err := s.Get(t.Context(), time.Minute, load); err != nil || v != int(before) {
			t.Errorf("%d, %v: an answer of this minute is good enough", v, err)
		}
		if v, err := s.Get(t.Context(), 0, load); err != nil || v != int(before)+1 {
			t.Errorf("%d, %v: nothing old was to be given", v, err)
		}
	})
}

func TestFailures(t *testing.T) {
	t.Parallel()
	var s Answer[int]
	broken := errors.New("broken")
	fail := func(ctx context.Context) (int, error) { return 0, errors.Join(broken, ctx.Err()) }
	if _, ok := s.GetOrLast(t.Context(), time.Minute, fail); ok {
		t.Error("there is an answer though there never was one")
	}
	if _, err := s.Get(t.Context(), time.Minute, func(context.Context) (int, error) { return 1, nil }); !errors.Is(err, broken) {
		t.Errorf("%v: a failure is shared as well", err)
	}
	if v, err := s.Get(t.Context(), 0, func(context.Context) (int, error) { return 1, nil }); err != nil || v != 1 {
		t.Errorf("%d, %v", v, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 { // whichever way the select goes
		if _, err := s.Get(gone, 0, fail); err == nil {
			t.Error("no error with a ctx that ended")
		}
	}
	if v, err := s.Get(t.Context(), time.Hour, fail); err != nil || v != 1 {
		t.Errorf("%d, %v: one caller's ctx is no answer for others", v, err)
	}
	if v, ok := s.GetOrLast(t.Context(), 0, fail); !ok || v != 1 {
		t.Errorf("%d, %v: the last good answer is kept", v, ok)
	}
}
