// Package toolcache knows where the tools and distributions live that the tests and the demo run:
// the temporal CLI with its dev server, tctl, unpacked Flink distributions, the test job's jar, a Kubernetes control
// plane, the Flink Kubernetes operator and the jars of Hadoop.
//
// It only names places and picks between them. `go run ./tools/ensure` fills them. Every version is
// pinned here, and every path carries its version, so a new version is a new path and an old cache
// never serves a wrong tool.
package toolcache
