package chaos

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Kind is a sort of fault.
type Kind string

// The kinds.
const (
	WorkerKill      Kind = "worker-kill"    // kill -9, started again
	WorkerUpgrade   Kind = "worker-upgrade" // asked to end, another build started
	ServerKill      Kind = "server-kill"    // the Temporal server, on the same database again
	JobManagerKill  Kind = "jm-kill"        // with HA: another leader; without: every job is submitted anew
	TaskManagerKill Kind = "tm-kill"
	ParentCancel    Kind = "parent-cancel"    // and started again when it has ended
	ParentTerminate Kind = "parent-terminate" // and started again later
	ParentRestart   Kind = "parent-restart"   // terminated and started in one
	NetDelay        Kind = "net-delay"
	NetDrop         Kind = "net-drop"
	Net503          Kind = "net-503"
	Net409          Kind = "net-409"
	NetHTML         Kind = "net-html"
	NetHalf         Kind = "net-half"
	NetRepeat       Kind = "net-repeat" // a write comes twice to Flink
)

// Step is where in a rescale a fault happens.
type Step string

// The steps.
const (
	AtOrder     Step = "order"     // accepted, nothing began yet
	AtPreflight Step = "preflight" // while the job is checked, before anything is written
	AtWrite     Step = "write"     // sent, and not yet seen by Flink
	AtWritten   Step = "written"   // Flink took it, and the worker does not know
	AtVerify    Step = "verify"    // while Flink goes to the new size
	AtUndo      Step = "undo"      // the job fails at the new size, and the write of the one before is sent
)

// Fault is one planned fault.
type Fault struct {
	// Number counts from 1 in the order of the plan.
	Number int
	Kind   Kind
	Step   Step
	// Job is the index of the job whose rescale is hit, Cluster that of its cluster.
	Job, Cluster int
	// Down is how long what was killed stays down, or a request is late.
	Down time.Duration
	// Times is how many requests in a row a fault of the network hits.
	Times int
	// BySignal orders with a signal instead of an update; SameID submits lost
	// jobs anew under their old ids.
	BySignal, SameID bool
}

// endsParent is true for a fault after which another workflow manages the job,
// which knows nothing of the orders before.
func (f Fault) endsParent() bool {
	return f.Kind == ParentCancel || f.Kind == ParentTerminate || f.Kind == ParentRestart
}

// Plan says what to inject.
type Plan struct {
	Seed   uint64
	Faults int
	// Clusters is how many there are: every second one, the first among them, has
	// HA.
	Clusters int
	// Ordered and Loaded are how many jobs of each cluster are rescaled by orders,
	// and by their load; the latter get a third of a share each, since they are slow.
	// One job more, the last, fails at mostSlots subtasks and gets what happens to
	// an undo.
	Ordered, Loaded int
}

// failing is the index of the job that fails.
func (p Plan) failing() int { return p.Ordered + p.Loaded }

// kinds gives every kind with the steps at which it makes sense.
func kinds() []struct {
	kind  Kind
	steps []Step
} {
	every := []Step{AtOrder, AtPreflight, AtWrite, AtWritten, AtVerify, AtUndo}
	open := every[1:]
	return []struct {
		kind  Kind
		steps []Step
	}{
		{WorkerKill, every},
		{WorkerUpgrade, every},
		{ServerKill, every},
		{JobManagerKill, every},
		{TaskManagerKill, every},
		// An order that waits ends with its workflow: nothing is left to see.
		{ParentCancel, open},
		{ParentTerminate, open},
		{ParentRestart, open},
		{NetDelay, open},
		{NetDrop, open},
		{Net503, open},
		{Net409, open},
		{NetHTML, open},
		{NetHalf, open},
		{NetRepeat, []Step{AtWritten}},
	}
}

// Make gives the faults: the same for the same plan. Every kind comes equally
// often, give or take one, and within a kind every step.
func (p Plan) Make() []Fault {
	r := rand.New(rand.NewPCG(p.Seed, 0x9e3779b97f4a7c15)) //nolint:gosec // a plan must repeat
	all := kinds()
	for i := range all {
		all[i].steps = shuffled(r, all[i].steps)
	}
	turns := p.turns()
	out := make([]Fault, 0, p.Faults)
	for round := 0; len(out) < p.Faults; round++ {
		for _, i := range r.Perm(len(all)) {
			if len(out) == p.Faults {
				break
			}
			k := all[i]
			f := turns[len(out)%len(turns)]
			if k.steps[round%len(k.steps)] == AtUndo {
				f.Job = p.failing()
			}
			f.Number, f.Kind, f.Step = len(out)+1, k.kind, k.steps[round%len(k.steps)]
			f.Down, f.Times, f.BySignal, f.SameID = down(r, k.kind), 1+r.IntN(3), r.IntN(3) == 0, r.IntN(2) == 0
			out = append(out, f)
		}
	}
	return out
}

func shuffled(r *rand.Rand, steps []Step) []Step {
	out := make([]Step, 0, len(steps))
	for _, i := range r.Perm(len(steps)) {
		out = append(out, steps[i])
	}
	return out
}

// turns is the order in which jobs get faults.
func (p Plan) turns() []Fault {
	var out []Fault
	for turn := range 3 {
		for job := range p.Ordered + p.Loaded {
			for cluster := range p.Clusters {
				if job < p.Ordered || turn == 2 {
					out = append(out, Fault{Job: job, Cluster: cluster})
				}
			}
		}
	}
	return out
}

// down is a random time for a kind. The worker gives up a request after 5 s: a
// delay is shorter or longer.
func down(r *rand.Rand, k Kind) time.Duration {
	d := func(from, to time.Duration) time.Duration {
		return (from + time.Duration(r.Int64N(int64(to-from)))).Round(100 * time.Millisecond)
	}
	switch k {
	case NetDelay:
		return d(500*time.Millisecond, 8*time.Second)
	case NetRepeat:
		return d(0, time.Second)
	case ParentTerminate:
		return d(time.Second, 6*time.Second)
	}
	return d(0, 2*time.Second)
}

// of gives the faults of one job, in order.
func of(faults []Fault, cluster, job int) []Fault {
	return slices.DeleteFunc(slices.Clone(faults), func(f Fault) bool { return f.Cluster != cluster || f.Job != job })
}
