// Package devserver runs the Temporal development server that the temporal CLI
// carries, with its Web UI, on free loopback ports: the embedded default of the
// demo and the server of the tests.
package devserver
