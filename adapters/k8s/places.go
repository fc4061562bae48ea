package k8s

import (
	"context"
	"maps"
	"time"

	"flinkscaler/adapters/flink"
	"flinkscaler/core"
)

// place is what was seen of a target not long ago: where its Flink is, and its
// policy. Reads of Flink itself go by it, so that a look at a job costs the API
// server two GETs and not five.
type place struct {
	uid    string
	flink  *flink.Cluster
	policy map[string]string
	at     time.Time
}

// placeFor is how long a place is taken for true. A job found by it is read by its
// id, so that an object that was replaced meanwhile cannot stand for it.
const placeFor = 15 * time.Second

// maxPlaces bounds what is remembered; far more jobs than one worker looks at.
const maxPlaces = 16384

func (c *Cluster) remember(v *view) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.places) >= maxPlaces {
		clear(c.places) // they are read again
	}
	c.places[v.target] = place{uid: string(v.object.GetUID()), flink: v.flink, policy: v.policy(), at: time.Now()}
}

// place gives where a job's Flink is, from the object where that was not read
// just now.
func (c *Cluster) place(ctx context.Context, job core.JobRef) (place, error) {
	target, err := targetOf(job)
	if err != nil {
		return place{}, err
	}
	c.mu.Lock()
	p, ok := c.places[target]
	c.mu.Unlock()
	if ok && p.uid == job.Extras[extraUID] && time.Since(p.at) < placeFor {
		return p, nil
	}
	v, err := c.open(ctx, job)
	if err != nil {
		return place{}, err
	}
	return place{flink: v.flink, policy: v.policy()}, nil
}

// configWith adds the policy of the object to what Flink shows of a job's
// configuration. Flink not telling stays that: the policy must not seem complete.
func (p place) configWith(config map[string]string) map[string]string {
	if config == nil {
		return nil
	}
	maps.Copy(config, p.policy)
	return config
}
