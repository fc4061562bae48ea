// Package telemetry serves a binary's health and metrics over HTTP: /healthz,
// /readyz and /metrics, with the SDK's metrics, those of the workflows and our
// own.
//
// Invariants: an endpoint never waits long for anything; labels come from
// closed sets, but for cluster and job. It must not decide anything.
package telemetry
