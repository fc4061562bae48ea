package shared

import "sync"

// Each calls do with every number from 0 to n-1, at most so many at a time, and
// returns when all calls have returned.
func Each(n, atOnce int, do func(i int)) {
	var group sync.WaitGroup
	next := make(chan int)
	for range min(atOnce, n) {
		group.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
}
