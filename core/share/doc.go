// Package share lets several jobs grow on one cluster without starving each
// other: who may have more slots now, who waits, in which place and why. It is
// a state machine without clock and I/O; whoever owns a State hands in the time.
//
// A job that wants to grow asks, is given a lease or a place in the queue, renews
// the lease while it grows, and says at the end what it holds. A job that gets
// smaller asks nobody: it only says what it holds then.
//
// What holds always:
//   - a grant never takes the sum of what jobs hold above the limit of slots, nor
//     the number of leases above the limit of rescales. A limit that shrinks takes
//     nothing away, it only ends the granting;
//   - the queue is in the order of the time of asking, in which a point of priority
//     counts as PriorityStep of waiting: a high priority is first among those that
//     came at about the same time, and no priority keeps another job waiting for
//     ever;
//   - one that has waited for ReserveAfter is passed by nobody behind it: what
//     becomes free is kept for it, unless it asks for more than there can ever be;
//   - asking again with the same decision has one effect; so has a decision that
//     is over;
//   - what is not renewed ends by itself. A lease that ends so leaves its job with
//     what it last said that it holds;
//   - the state is bounded: see MaxRequests and MaxJobs.
package share
