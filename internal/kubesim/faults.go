package kubesim

import "time"

// Fault is what goes wrong with one resource.
type Fault struct {
	// Ignore has the operator never look at it, as one outside of its watched
	// namespaces or its label selector, or one it is stuck with: its generation
	// is not observed.
	Ignore bool
	// Delay is how long the operator needs until it sees a change.
	Delay time.Duration
	// Error is why no change is carried out: it shows in status.error and as an
	// Event. Nothing is reconciled while it is set.
	Error string
	// RollBack makes the next change end as ROLLED_BACK: the spec keeps what was
	// asked for, what was before runs on. It ends with the next change.
	RollBack bool
}

// SetFault replaces the faults of a resource, by the namespace and the name of
// a FlinkDeployment or FlinkSessionJob. The zero Fault is none.
func (o *Operator) SetFault(namespace, resource string, f Fault) {
	key := name{Namespace: namespace, Name: resource}
	o.mu.Lock()
	o.faults[key] = f
	o.mu.Unlock()
	o.loop.soon(key)
	o.jobs.soon(key)
}

// Halt stops the operator as scaling it to nothing does; with false it goes on.
func (o *Operator) Halt(on bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.halted = on
}

// awayCheck is how often an operator that does not look asks whether it should.
const awayCheck = 200 * time.Millisecond

// away is how long the operator does not look at a resource.
func (o *Operator) away(s *subject) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := o.faults[s.key()]
	if o.halted || f.Ignore {
		o.passed[s.key()]++
		return awayCheck
	}
	if s.reconciled == nil || s.observed() == s.o.GetGeneration() {
		delete(o.seen, s.id())
		return 0
	}
	since, known := o.seen[s.id()]
	if !known {
		since = time.Now()
		o.seen[s.id()] = since
	}
	return max(0, time.Until(since.Add(f.Delay)))
}

// passedBy is how often the operator came by a resource and did not look.
func (o *Operator) passedBy(key name) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.passed[key]
}

func (o *Operator) fault(s *subject) Fault {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.faults[s.key()]
}

// rolledBack ends the fault after it happened.
func (o *Operator) rolledBack(s *subject) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := o.faults[s.key()]
	f.RollBack = false
	o.faults[s.key()] = f
}
