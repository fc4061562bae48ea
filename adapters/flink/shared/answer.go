package shared

import (
	"context"
	"fmt"
	"sync"
	"time"

	"flinkscaler/core"
)

// Answer keeps the last answer to a question that many ask at once, so that
// the jobs of one cluster cost it one request and not one each. The zero value
// is ready.
type Answer[T any] struct {
	once sync.Once
	// turn holds one token: who has it may load.
	turn chan struct{}

	mu   sync.Mutex // guards the following, never held while loading
	now  held[T]
	good held[T] // the last without an error
}

// held is an answer and when it was asked for: what happened since may be
// missing in it.
type held[T any] struct {
	value T
	err   error
	at    time.Time
}

// Get gives an answer that was asked for at most maxAge ago, and asks where
// there is none. A failure is shared like a value, but not one that comes from
// the caller's own ctx.
func (s *Answer[T]) Get(ctx context.Context, maxAge time.Duration, load func(context.Context) (T, error)) (T, error) {
	s.once.Do(func() { s.turn = make(chan struct{}, 1) })
	oldest := time.Now().Add(-maxAge)
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		var none T
		return none, fmt.Errorf("%w: %w", core.ErrUnreachable, context.Cause(ctx))
	}
	defer func() { <-s.turn }()
	if h, _ := s.kept(); !h.at.IsZero() && !h.at.Before(oldest) {
		return h.value, h.err
	}
	began := time.Now()
	value, err := load(ctx)
	if err == nil || ctx.Err() == nil {
		s.keep(held[T]{value, err, began})
	}
	return value, err
}

// GetOrLast gives the last good answer, however old, when asking fails; false
// when there never was one.
func (s *Answer[T]) GetOrLast(ctx context.Context, maxAge time.Duration, load func(context.Context) (T, error)) (T, bool) {
	value, err := s.Get(ctx, maxAge, load)
	if err == nil {
		return value, true
	}
	_, good := s.kept()
	return good.value, !good.at.IsZero()
}

func (s *Answer[T]) kept() (now, good held[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now, s.good
}

func (s *Answer[T]) keep(h held[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = h
	if h.err == nil {
		s.good = h
	}
}
