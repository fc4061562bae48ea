// Package spec is what an operator types to have a job scaled: one JSON object,
// decoded strictly, every problem with its path.
//
// It is pure: no I/O, no clock. The worker checks inputs with it in a recorded
// activity, the starter before it sends anything.
package spec
