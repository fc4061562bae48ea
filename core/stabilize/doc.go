// Package stabilize keeps a decision from being wrong because of what happened
// before. A vertex gets smaller only when it could have been smaller for a
// whole delay, and then to the largest size that was wanted in that time
// (Delays). Past changes are remembered with what came of them (Record,
// Settle); they tell how well a vertex scales (Coefficient), whether its last
// scale-up helped (Judge), and what a restart costs (RestartTime). While
// TaskManagers are short of memory, rates say nothing of sizes (Pressure). Book
// holds all of it while one decision is made.
//
// Invariants: the memory that is given is never changed in place, and what is
// given back is bounded whatever the policy says; delayed entries of a vertex
// are strictly decreasing in parallelism; time in which nothing could be judged
// does not count towards the delay; a change counts at the size that was
// reached, an outcome is taken in once; no scale-down is ever held by what is
// remembered of changes; what cannot be measured is no verdict.
//
// It must not do I/O nor read a clock.
package stabilize
