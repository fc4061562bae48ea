// Package flags holds the flag values that both programs take: lengths of time
// as people write them, and policy keys.
//
// Invariants: a bare number is no length of time; every problem of a list of
// keys is found at once. It must not know a command.
package flags
