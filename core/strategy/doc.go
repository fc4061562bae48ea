// Package strategy makes the decision of one cycle: may it decide at all, what
// does the strategy or an operator's override ask for, what forbids it, and how
// to say so.
//
// Invariants: a decision is a function of its input alone; whatever happens it
// ends as a decision, a fault of ours as a hold; when the newest sample is no
// evidence nothing changes; nothing of the input is changed in place.
//
// It must not do I/O nor read a clock.
package strategy
