// Package harness carries the Java side of the oracle: the sources of a small program around the Java autoscaler, the
// pom.xml that names the release, and where the jars built from them are. `go run ./tools/ensure oracle` builds it
// with Maven, javac and jar.
package harness
