// Package logging makes the one logger of a binary (hclog, for people or as
// JSON), the same logger in the shape that Temporal's SDK wants, and names the
// keys of log lines.
//
// Invariants: one line per event; a message is a constant sentence that begins
// in lower case, its data follow in pairs under the keys of keys.go. It must
// not hold a global logger.
package logging
