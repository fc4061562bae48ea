package flink

import (
	"context"
	"sync"
	"time"

	"flinkscaler/core"
)

// Names of a vertex that is no source stay the same for an attempt, but appear
// one after the other as it starts: they are kept once the job has run for
// namesSettle, and read again every namesKept in case one was late. A source
// gains names as splits and the backlog appear: its names are read each time.
const (
	namesSettle = time.Minute
	namesKept   = 10 * time.Minute
)

// maxNames bounds how many vertices' names are kept: of a cluster with more,
// all are forgotten now and then.
const maxNames = 20_000

// nameCache keeps metric ids by job and vertex. The zero value is ready.
type nameCache struct {
	mu   sync.Mutex
	held map[nameKey]heldNames
}

type nameKey struct{ job, vertex string }

type heldNames struct {
	attempt time.Time
	at      time.Time
	names   []string
}

func (n *nameCache) get(k nameKey, attempt, now time.Time) ([]string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	h, ok := n.held[k]
	if !ok || !h.attempt.Equal(attempt) || now.Sub(h.at) > namesKept {
		return nil, false
	}
	return h.names, true
}

func (n *nameCache) put(k nameKey, h heldNames) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.held == nil || len(n.held) >= maxNames {
		n.held = map[nameKey]heldNames{}
	}
	n.held[k] = h
}

// namesOf lists the metric ids of a vertex, from memory where that is safe.
func (c *Cluster) namesOf(ctx context.Context, status core.JobStatus, v core.Vertex, path string) ([]string, error) {
	k := nameKey{status.ID, v.ID}
	if names, ok := c.names.get(k, status.RunningSince, status.Now); ok && !v.IsSource() {
		return names, nil
	}
	names, err := c.metricNames(ctx, path, v.ID)
	if err == nil && len(names) > 0 && !v.IsSource() && status.Now.Sub(status.RunningSince) > namesSettle {
		c.names.put(k, heldNames{status.RunningSince, status.Now, names})
	}
	return names, err
}
