package shared_test

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"flinkscaler/adapters/flink/shared"
)

// TestEach: every number once, never more at a time than allowed, and none for none.
func TestEach(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 3, 100} {
		const most = 3
		var now, over atomic.Int32
		seen := make([]int, n)
		shared.Each(n, most, func(i int) {
			if now.Add(1) > most {
				over.Add(1)
			}
			seen[i]++
			runtime.Gosched()
			now.Add(-1)
		})
		if over.Load() > 0 || slices.ContainsFunc(seen, func(c int) bool { return c != 1 }) {
			t.Errorf("of %d: calls %v, %d times too many at once", n, seen, over.Load())
		}
	}
}
