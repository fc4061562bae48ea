package yarn

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
)

// Kinds of schedulers, as a ResourceManager names them.
const (
	capacityScheduler = "capacityScheduler"
	fairScheduler     = "fairScheduler"
	fifoScheduler     = "fifoScheduler"
)

// scheduler is how YARN shares out the cluster.
type scheduler struct {
	kind string
	// root of the queues, nil where there are none.
	root *queue
}

// queue is one queue, in the words that both schedulers have in common. What a
// version does not tell is nil.
type queue struct {
	name, path, state string
	// parts are what it has and uses of each partition of the nodes; "" is that of the
	// nodes without a label.
	parts map[string]part
	// largest is the largest container that it gives.
	largest *resource
	// amLimit bounds all ApplicationMasters in it, amUsed is what they take.
	amLimit, amUsed *resource
	users           []user
	// userFactor is how many times what the queue is entitled to one user may have, 0
	// where that is not told, or not limited.
	userFactor float64
	// preempts is true where it takes back from others what it is entitled to, or may.
	preempts bool
	children []*queue
}

// part is what a queue has of one partition.
type part struct {
	// most is what it may have, entitled what it is to have; used is in use.
	most, entitled, used *resource
}

// user is somebody with applications in a queue. The limit that YARN shows of a user
// is left out: above what the queue is entitled to it goes up with what is used, and
// so forbids nothing.
type user struct {
	name string
	used *resource
}

// scheduler reads all queues.
func (c *Cluster) scheduler(ctx context.Context) (scheduler, error) {
	return fetch(ctx, c, request{op: "read queues", path: "/scheduler"}, decodeScheduler)
}

func decodeScheduler(b []byte) (scheduler, error) {
	body, err := fromJSON[struct {
		Scheduler struct {
			Info *struct {
				queueBody
				Root *queueBody `json:"rootQueue"`
			} `json:"schedulerInfo"`
		} `json:"scheduler"`
	}](b)
	switch info := body.Scheduler.Info; {
	case err != nil:
		return scheduler{}, err
	case info == nil:
		return scheduler{}, errors.New(`no "schedulerInfo" in the answer`)
	case info.Root != nil:
		return scheduler{kind: fairScheduler, root: info.Root.queue("")}, nil
	case info.Type == fifoScheduler:
		return scheduler{kind: fifoScheduler}, nil
	default:
		return scheduler{kind: info.Type, root: info.queueBody.queue("")}, nil
	}
}

// queueBody is a queue of either scheduler as it is written.
type queueBody struct {
	Type  string `json:"type"`
	Name  string `json:"queueName"`
	Path  string `json:"queuePath"`
	State string `json:"state"`

	// Of the capacity scheduler.
	MaxEffective *resource   `json:"maxEffectiveCapacity"`
	MinEffective *resource   `json:"minEffectiveCapacity"`
	Used         *resource   `json:"resourcesUsed"`
	Largest      *resource   `json:"maximumAllocation"`
	AMLimit      *resource   `json:"AMResourceLimit"`
	AMUsed       *resource   `json:"usedAMResource"`
	NoPreemption *bool       `json:"preemptionDisabled"`
	Users        userBodies  `json:"users"`
	UserFactor   float64     `json:"userLimitFactor"`
	Queues       childBodies `json:"queues"`
	Capacities   struct {
		Parts several[partBody] `json:"queueCapacitiesByPartition"`
	} `json:"capacities"`
	Resources struct {
		Parts several[partBody] `json:"resourceUsagesByPartition"`
	} `json:"resources"`

	// Of the fair scheduler. It has no partitions.
	FairMax     *resource   `json:"maxResources"`
	FairShare   *resource   `json:"fairResources"`
	FairUsed    *resource   `json:"usedResources"`
	FairLargest *resource   `json:"maxContainerAllocation"`
	FairAMLimit *resource   `json:"amMaxResources"`
	FairAMUsed  *resource   `json:"amUsedResources"`
	Preemptable *bool       `json:"preemptable"`
	Children    childBodies `json:"childQueues"`
}

// partBody is what a queue has or uses of one partition.
type partBody struct {
	Name     string    `json:"partitionName"`
	Most     *resource `json:"effectiveMaxResource"`
	Entitled *resource `json:"effectiveMinResource"`
	Used     *resource `json:"used"`
}

type userBody struct {
	Name string    `json:"username"`
	Used *resource `json:"resourcesUsed"`
}

// userBodies are {"user": [...]}, or a bare list in some versions.
type userBodies []userBody

// UnmarshalJSON takes both.
func (u *userBodies) UnmarshalJSON(b []byte) error {
	list, err := wrapped[userBody](b, "user")
	*u = list
	return err
}

// childBodies are {"queue": [...]}, or a bare list or a queue in some versions.
type childBodies []queueBody

// UnmarshalJSON takes all of them.
func (c *childBodies) UnmarshalJSON(b []byte) error {
	list, err := wrapped[queueBody](b, "queue")
	*c = list
	return err
}

// wrapped reads a list that is the value of a key, or stands by itself.
func wrapped[T any](b []byte, key string) ([]T, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(b, &object); err == nil {
		if inner, ok := object[key]; ok {
			b = inner
		}
	}
	var list several[T]
	err := json.Unmarshal(b, &list)
	return list, err
}

// queue gives the queue beneath a parent's path.
func (b queueBody) queue(above string) *queue {
	q := &queue{name: b.Name, path: b.Path, state: b.State, largest: b.Largest, amLimit: b.AMLimit, amUsed: b.AMUsed, parts: b.parts(), userFactor: max(0, b.UserFactor)}
	q.preempts = b.NoPreemption != nil && !*b.NoPreemption
	if b.FairUsed != nil || b.FairMax != nil {
		q.largest, q.amLimit, q.amUsed = b.FairLargest, b.FairAMLimit, b.FairAMUsed
		q.preempts = b.Preemptable == nil || *b.Preemptable
	}
	if q.path == "" {
		q.path = b.Name // the fair scheduler's names are paths
		if above != "" && !within(b.Name, above) {
			q.path = above + "." + b.Name
		}
	}
	for _, u := range b.Users {
		q.users = append(q.users, user{u.Name, u.Used})
	}
	for _, c := range slices.Concat(b.Queues, b.Children) {
		q.children = append(q.children, c.queue(q.path))
	}
	return q
}

func within(path, above string) bool {
	return len(path) > len(above) && path[:len(above)] == above && path[len(above)] == '.'
}

// parts joins what is written of each partition.
func (b queueBody) parts() map[string]part {
	out := map[string]part{"": {most: b.MaxEffective, entitled: b.MinEffective, used: b.Used}}
	if b.FairUsed != nil || b.FairMax != nil {
		out[""] = part{most: b.FairMax, entitled: b.FairShare, used: b.FairUsed}
	}
	for _, p := range slices.Concat(b.Capacities.Parts, b.Resources.Parts) {
		known := out[p.Name]
		out[p.Name] = part{first(p.Most, known.most), first(p.Entitled, known.entitled), first(p.Used, known.used)}
	}
	return out
}

func first(a, b *resource) *resource {
	if a != nil {
		return a
	}
	return b
}

// find gives the queues from the root down to the one that an application names by
// its path or by its own name. None: nil, and so are several of one name.
func (s scheduler) find(name string) []*queue {
	if s.root == nil {
		return nil
	}
	var found [][]*queue
	s.root.walk(nil, func(path []*queue) {
		if q := path[len(path)-1]; len(q.children) == 0 && (q.path == name || leaf(q.path) == name) {
			found = append(found, slices.Clone(path))
		}
	})
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

func (q *queue) walk(above []*queue, visit func([]*queue)) {
	path := append(above, q)
	visit(path)
	for _, c := range q.children {
		c.walk(path, visit)
	}
}

// inUse is what the queue uses of a partition; of one with children their sum, which
// is what its limit is held against. Nil where some of it is not told.
func (q *queue) inUse(partition string) *resource {
	if u := q.parts[partition].used; u != nil || len(q.children) == 0 {
		return u
	}
	var sum resource
	for _, c := range q.children {
		u := c.inUse(partition)
		if u == nil && partition != "" {
			continue // it has none of it
		}
		if u == nil {
			return nil
		}
		sum = sum.plus(*u)
	}
	return &sum
}
