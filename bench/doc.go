// Package bench measures what flinkscaler costs, on real programs: ratios and
// counts per cycle, never a limit in a unit test. `make bench` runs it.
package bench
