package yarn

import (
	"context"
	"errors"
	"net/url"
)

// usage is what an application has of YARN, and waits for.
type usage struct {
	// managers are the containers beside that of the ApplicationMaster: its
	// TaskManagers, from the moment when YARN has given them. -1 where that is not told.
	managers int
	// taskManager is the size of one, master that of the ApplicationMaster; nil where
	// that is not told, or not all have one size.
	taskManager, master *resource
	// asked are containers that it waits for, pending what they need together.
	asked   int
	pending resource
	// partition is that of its TaskManagers; mixed is true for several.
	partition string
	mixed     bool
}

// usage reads it anew.
func (c *Cluster) usage(ctx context.Context, id string) (usage, error) {
	return fetch(ctx, c, request{op: "read application", subject: id, path: "/apps/" + url.PathEscape(id)}, decodeUsage)
}

type usageBody struct {
	Containers *count `json:"runningContainers"`
	Resources  struct {
		Parts several[struct {
			Name    string   `json:"partitionName"`
			Used    resource `json:"used"`
			AM      resource `json:"amUsed"`
			Pending resource `json:"pending"`
		}] `json:"resourceUsagesByPartition"`
	} `json:"resourceInfo"`
	// Requests stand for one size each, at every place where it may be: only those for
	// any place are counted.
	Requests several[struct {
		Containers count    `json:"numContainers"`
		Size       resource `json:"capability"`
		Place      string   `json:"resourceName"`
	}] `json:"resourceRequests"`
}

func decodeUsage(b []byte) (usage, error) {
	body, err := fromJSON[struct {
		App *usageBody `json:"app"`
	}](b)
	if err == nil && body.App == nil {
		err = errors.New(`no "app" in the answer`)
	}
	if err != nil {
		return usage{}, err
	}
	return body.App.usage(), nil
}

func (b usageBody) usage() usage {
	u := usage{managers: -1}
	if b.Containers != nil && *b.Containers >= 0 {
		u.managers = max(0, int(min(*b.Containers, 1<<30))-1)
	}
	var managers, master resource
	places := 0
	for _, p := range b.Resources.Parts {
		master = master.plus(p.AM)
		u.pending = u.pending.plus(p.Pending)
		if of := p.Used.minus(p.AM); of.memory > 0 {
			managers = managers.plus(of)
			u.partition = p.Name
			places++
		}
	}
	u.mixed = places > 1
	if master.memory > 0 {
		u.master = &master
		u.taskManager = each(managers, u.managers)
	}
	for _, r := range b.Requests {
		if r.Containers <= 0 || r.Place != "" && r.Place != "*" {
			continue
		}
		u.asked += int(min(r.Containers, 1<<30))
	}
	return u
}

// each is the size of one of n that are of one size, nil where they cannot be.
func each(all resource, n int) *resource {
	if n <= 0 || all.memory <= 0 || all.memory%int64(n) != 0 || all.cores%int64(n) != 0 {
		return nil
	}
	return &resource{all.memory / int64(n), all.cores / int64(n)}
}

// waits is true while YARN owes it something.
func (u usage) waits() bool { return u.asked > 0 || u.pending.memory > 0 }
