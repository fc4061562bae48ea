// Package yarn has the tests of the real worker on real Hadoop. They need the build
// tag e2e.
package yarn
