// Package config reads the worker's configuration: one YAML file, over it the
// environment, over that the flags.
//
// Invariants: strict (an unknown key, a wrong type or a missing file is a
// problem); every problem is found at once and named by its path; a credential
// is always a file, and no value that could be one is part of an error. It
// must not connect to anything.
package config
