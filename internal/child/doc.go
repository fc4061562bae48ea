// Package child starts programs that must not outlive their parent: servers,
// workers and JVMs of the demo and of the tests. A program can be killed,
// frozen and started again; each run has log files of its own.
//
// On Linux a child ends with its parent, however that ends (see package spawn).
package child
