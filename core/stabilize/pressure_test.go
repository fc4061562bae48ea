package stabilize

import (
	"testing"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

func TestPressure(t *testing.T) {
	t.Parallel()
	guarded := policy.Default()
	guarded.GCPressureThreshold, guarded.HeapUsageThreshold = 0.5, 0.8
	none := core.Reading{}
	cases := map[string]struct {
		reason   string
		gc, heap core.Reading
		p        policy.Policy
		key      string
	}{
		"missing":      {"what is not there passes", none, core.Absent(core.Stale), guarded, ""},
		"just below":   {"both", core.Read(0.49), core.Read(0.79), guarded, ""},
		"exactly":      {"only more than the threshold", core.Read(0.5), core.Read(0.8), guarded, ""},
		"gc":           {"garbage collection", core.Read(0.51), core.Read(0.79), guarded, GCPressure},
		"heap":         {"heap", core.Read(0.49), core.Read(0.81), guarded, HeapUsage},
		"heap alone":   {"garbage collection not known", none, core.Read(0.81), guarded, HeapUsage},
		"both":         {"garbage collection is told first", core.Read(0.9), core.Read(0.9), guarded, GCPressure},
		"off":          {"a threshold of 1 is off, even where several collectors add up to more", core.Read(1.2), core.Read(1.1), policy.Default(), ""},
		"nothing used": {"a threshold of 0", core.Read(0), core.Read(0), policy.Policy{}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			blocked, key, note := Pressure(c.gc, c.heap, c.p)
			if key != c.key || blocked != (c.key != "") || (note == "") == blocked {
				t.Errorf("%v, %q, %q; want %q: %s", blocked, key, note, c.key, c.reason)
			}
		})
	}
}
