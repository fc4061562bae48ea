// Package child starts programs that must not outlive their parent: servers
// and workers of the demo and of the tests. Each run of a program has its own
// log file; a program can be killed, frozen and started again.
package child
