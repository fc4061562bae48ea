package flink

import (
	"cmp"
	"context"
	"net/url"
	"slices"
)

// TaskManager is one that is registered at the JobManager.
type TaskManager struct {
	ID string
	// Host is where it is reached, a name or an address without the port, empty
	// where Flink does not tell.
	Host string
	// Slots are all its slots, Free those that no job holds. A slot that was given
	// back counts as held for a while (slot.idle.timeout).
	Slots, Free int
}

// TaskManagers lists those registered now, sorted by id.
func (c *Cluster) TaskManagers(ctx context.Context) ([]TaskManager, error) {
	all, err := c.listManagers(ctx, 0)
	if err != nil {
		return nil, err
	}
	out := make([]TaskManager, 0, len(all))
	for _, tm := range all {
		out = append(out, TaskManager{ID: tm.id, Host: tm.host, Slots: tm.slots, Free: tm.free})
	}
	slices.SortFunc(out, func(a, b TaskManager) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// hostOf reads the host out of an actor's address, such as
// "pekko.tcp://flink@10.0.0.7:6122/user/rpc/taskmanager_0".
func hostOf(path string) string {
	u, err := url.Parse(path)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
