// Package connecttest is a Temporal server that knows its namespaces and has
// no work: enough to connect a client and to start and stop a worker in a unit
// test, without a server process.
//
// It must not grow workflows: what needs them is tested on a real server.
package connecttest
