// Package eventlog shows the events of jobs as lines of the worker's log, one
// each: what is normal as Info, a warning as Warn. An event tells of a job and
// not of the worker, so none is an Error.
//
// A log cannot tell what is in it already: events that are sent again after a
// lost answer show again. It must not keep anything.
package eventlog
