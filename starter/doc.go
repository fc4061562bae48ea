// Command flinkscaler is the operators' tool: it starts, shows, orders and
// stops the workflows that scale Flink jobs. All it needs is a Temporal server
// and its own words for it; the workflows work as well with the temporal CLI or
// tctl, and nothing here is needed by them.
//
// Invariants: everything of an input is checked before anything is started; an
// error is one sentence and what to do; exit code 0 is done, 1 failed, 2 bad
// usage or input.
//
// It must not import adapters or activities: it knows jobs only by what their
// workflows answer.
package main
