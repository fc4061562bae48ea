package main

import "sync"

// workersAtOnce bounds the calls that are open at the same time.
const workersAtOnce = 16

// each calls f for 0 to n-1, some at the same time, and waits for all.
func each(n int, f func(i int)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, workersAtOnce)
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			f(i)
		})
	}
	all.Wait()
}

// queues remembers which task queues have no worker, so that a fleet without
// one is not asked job by job, each to its timeout.
type queues struct {
	mu       sync.Mutex
	silent   map[string]int
	answered map[string]bool
}

// enoughSilence is how many jobs of a task queue have to stay without answer,
// none having given one, until the rest is not asked.
const enoughSilence = 3

func (q *queues) skip(name string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.answered[name] && q.silent[name] >= enoughSilence
}

func (q *queues) note(name string, answered bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.silent == nil {
		q.silent, q.answered = map[string]int{}, map[string]bool{}
	}
	if answered {
		q.answered[name] = true
		return
	}
	q.silent[name]++
}
