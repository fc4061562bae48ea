package yarn

import "fmt"

// queues holds the need against the application's queue and all above it.
func (j *judgement) queues(s scheduler, name string) {
	if s.kind == fifoScheduler {
		return // one queue for all: only what is free counts
	}
	path := s.find(name)
	if len(path) == 0 {
		j.cannotTell("YARN does not show the queue %s, or several of that name", name)
		return
	}
	for _, q := range path {
		j.queue(q)
	}
	own := path[len(path)-1]
	j.ofUser(own)
	if j.anew {
		j.master(own)
	}
}

// queue takes in what a queue may still have.
func (j *judgement) queue(q *queue) {
	if q.largest != nil && j.need > 0 {
		byMemory, byCores := q.largest.holds(j.size)
		if byMemory == 0 || byCores == 0 && j.countsCores {
			j.refused("queue %s gives containers of at most %s", q.path, q.largest)
		}
	}
	p, used := q.parts[j.partition], q.inUse(j.partition)
	if p.most == nil || used == nil || p.most.memory <= 0 {
		if len(q.children) == 0 && j.need > 0 {
			j.cannotTell("YARN does not tell how much queue %s may have%s", q.path, j.ofPartition())
		}
		return
	}
	if len(q.children) == 0 && q.preempts && p.entitled != nil && used.memory < p.entitled.memory {
		j.grows = true // what it is entitled to is taken back from others for it
	}
	j.limit(j.within("queue "+q.path, p.most.minus(*used)), "queue %s may have %s%s and uses %s", q.path, p.most, j.ofPartition(), used)
}

func (j *judgement) ofPartition() string {
	if j.partition == "" {
		return ""
	}
	return fmt.Sprintf(" of partition %s", j.partition)
}

// ofUser takes in what one user may have of the queue at most. YARN looks at what is
// used before it gives a container, and rounds the limit up: so one may come beyond
// it, and one more is allowed for. It is told for the nodes without a label alone.
func (j *judgement) ofUser(q *queue) {
	entitled := q.parts[""].entitled
	if j.partition != "" || entitled == nil || q.userFactor <= 0 || j.size.memory <= 0 {
		return
	}
	most := int64(min(float64(entitled.memory)*q.userFactor, mostOf))
	for _, u := range q.users {
		if u.name != j.user || u.used == nil {
			continue
		}
		left, n := most-u.used.memory, 0
		if left > -j.size.memory {
			n = times(left+2*j.size.memory, j.size.memory)
		}
		j.limit(n, "user %s may have %d MB in queue %s and uses %d MB", u.name, most, q.path, u.used.memory)
	}
}

// master asks whether the queue lets a new application start. What the present
// ApplicationMaster has is given back before.
func (j *judgement) master(q *queue) {
	if q.state != "" && q.state != "RUNNING" {
		j.refused("queue %s is %s and takes no application", q.path, q.state)
	}
	if q.amLimit == nil || q.amUsed == nil || q.amLimit.memory <= 0 {
		return
	}
	if left := q.amLimit.minus(*q.amUsed); left.memory < 0 || left.cores < 0 && j.countsCores {
		j.refused("the ApplicationMasters in queue %s have %s, more than the %s that they may have: a new one would wait", q.path, q.amUsed, q.amLimit)
	}
}

// nodes takes in what is free on the nodes: a container has to fit on one.
func (j *judgement) nodes(all []node) {
	var fits, byMemory, elsewhere int
	for _, n := range all {
		memory, cores := n.free.holds(j.size)
		switch {
		case !n.running:
		case !n.in(j.partition):
			elsewhere += min(memory, j.need)
		default:
			byMemory += min(memory, j.need)
			fits += min(memory, cores, j.need)
		}
	}
	if !j.countsCores {
		if fits < j.need && byMemory >= j.need {
			j.cannotTell("by virtual cores the nodes have room for %d, but whether YARN counts those is not known", fits)
		}
		fits = byMemory
	}
	if fits < j.need && elsewhere > 0 && j.partition == "" {
		j.cannotTell("the nodes have room for %d, and those with labels may lend some", fits)
		return
	}
	j.atMost(fits, "the nodes have room for %d, and a container has to fit on one", fits)
}
