package flink

import (
	"context"
	"fmt"
	"sync"
	"time"

	"flinkscaler/core"
)

// shared keeps the last answer to a question that many ask at once, so that
// the jobs of one cluster cost it one request and not one each. The zero value
// is ready.
type shared[T any] struct {
	once sync.Once
	// turn holds one token: who has it may load.
	turn  chan struct{}
	value T
	err   error
	at    time.Time
	// known is true once a load succeeded; last is that value.
	known bool
	last  T
}

// get gives an answer that is at most maxAge old, and asks where there is
// none. A failure is shared like a value, but not one that comes from the
// caller's own ctx.
func (s *shared[T]) get(ctx context.Context, maxAge time.Duration, load func(context.Context) (T, error)) (T, error) {
	s.once.Do(func() { s.turn = make(chan struct{}, 1) })
	asked := time.Now()
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		var none T
		return none, fmt.Errorf("%w: %w", core.ErrUnreachable, context.Cause(ctx))
	}
	defer func() { <-s.turn }()
	if !s.at.IsZero() && !s.at.Before(asked.Add(-maxAge)) {
		return s.value, s.err
	}
	began := time.Now()
	value, err := load(ctx)
	if err != nil && ctx.Err() != nil {
		return value, err
	}
	s.value, s.err, s.at = value, err, began
	if err == nil {
		s.known, s.last = true, value
	}
	return value, err
}

// getOrLast gives the last good answer, however old, when asking fails; false
// when there never was one.
func (s *shared[T]) getOrLast(ctx context.Context, maxAge time.Duration, load func(context.Context) (T, error)) (T, bool) {
	value, err := s.get(ctx, maxAge, load)
	if err == nil {
		return value, true
	}
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	return s.last, s.known
}
