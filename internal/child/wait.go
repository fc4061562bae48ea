package child

import (
	"context"
	"fmt"
	"time"
)

// lookEvery is how often a condition is looked at: well below what a start or
// a rescale takes.
const lookEvery = 100 * time.Millisecond

// WaitFor looks until done is true, until look fails, or until ctx ends; the
// error then says what was seen last.
func WaitFor(ctx context.Context, what string, look func(ctx context.Context) (state string, done bool, err error)) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	last := "nothing"
	for {
		state, done, err := look(ctx)
		if err != nil {
			return fmt.Errorf("wait for %s: %w", what, err)
		}
		if done {
			return nil
		}
		if ctx.Err() == nil { // otherwise the state is only "context ended"
			last = state
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w; last seen: %s", what, ctx.Err(), last)
		case <-ticker.C:
		}
	}
}
