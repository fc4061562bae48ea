package main

import (
	"context"
	"sync"

	"flinkscaler/activities"
	"flinkscaler/core"
)

// sinks tells of jobs in the log, and on a job's own object where its cluster has
// such.
//
// The log comes first: it cannot fail, and it is where the trouble with the other
// place has to show. A log cannot tell what is in it, so what it took is
// remembered for a while: a retry for the sake of the other place is not logged
// again.
type sinks struct {
	log activities.EventSink
	// of is the other place, by cluster.
	of map[string]activities.EventSink

	mu sync.Mutex
	// logged and before are what the log took, newest in logged.
	logged, before map[entry]bool
}

// entry is one event in the log.
type entry struct {
	job           core.JobKey
	decision, key string
}

// maxLogged is when what was logged longest ago begins to be forgotten: far more
// than all jobs of a worker tell within the half minute of retries.
const maxLogged = 4096

func newSinks(log activities.EventSink, open map[string]cluster) *sinks {
	s := &sinks{log: log, of: map[string]activities.EventSink{}, logged: map[entry]bool{}}
	for name, c := range open {
		if c.kubernetes != nil {
			s.of[name] = c.kubernetes
		}
	}
	return s
}

// Send implements activities.EventSink.
func (s *sinks) Send(ctx context.Context, key core.JobKey, target core.Target, events []core.Event) error {
	other, ok := s.of[key.Cluster]
	if !ok {
		return s.log.Send(ctx, key, target, events)
	}
	if news := s.news(key, events); len(news) > 0 {
		if err := s.log.Send(ctx, key, target, news); err != nil {
			return err
		}
	}
	return other.Send(ctx, key, target, events)
}

// news gives the events that were not logged yet, and takes them for logged.
func (s *sinks) news(key core.JobKey, events []core.Event) []core.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []core.Event
	for _, e := range events {
		x := entry{key, e.DecisionID, e.Key + "\n" + e.Message}
		if s.logged[x] || s.before[x] {
			continue
		}
		if len(s.logged) >= maxLogged {
			s.logged, s.before = map[entry]bool{}, s.logged
		}
		s.logged[x] = true
		out = append(out, e)
	}
	return out
}
