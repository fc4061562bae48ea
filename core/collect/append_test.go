package collect

import (
	"testing"
	"time"

	"flinkscaler/core"
)

// TestAppendAfterTheClockWentBack: what was seen by another clock is no
// evidence any more.
func TestAppendAfterTheClockWentBack(t *testing.T) {
	t.Parallel()
	at := func(minute int) time.Time { return start().Add(time.Duration(minute) * time.Minute) }
	good := func(minute, since int) core.Sample {
		return core.Sample{At: at(minute), RunningSince: at(since), Clock: core.Read(1)}
	}
	unreachable := Faulty(at(20), core.ReasonUnreachable, "no answer")
	for name, c := range map[string]struct {
		reason string
		before []core.Sample
		s      core.Sample
		want   int
	}{
		"first":               {"there is nothing to compare with", nil, good(0, 0), 1},
		"on and on":           {"the usual", []core.Sample{good(0, 0), good(1, 0)}, good(2, 0), 3},
		"back by two minutes": {"a rate over a time that was cut short is too large", []core.Sample{good(0, 0), good(10, 0)}, good(8, 0), 1},
		"back by a year":      {"one look in the future must not stop all after it", []core.Sample{good(0, 0), good(525600, 0)}, good(1, 0), 1},
		"the same moment":     {"nothing went back", []core.Sample{good(0, 0), good(1, 0)}, good(1, 0), 3},
		"another JobManager":  {"its clock is behind: it says RUNNING since before the attempt that is over", []core.Sample{good(99, 90), good(100, 90)}, good(101, 80), 1},
		"a restart":           {"later than the attempt before", []core.Sample{good(99, 90), good(100, 90)}, good(103, 102), 3},
		"worker's clock":      {"a JobManager that did not answer has no clock: the worker's may be ahead", []core.Sample{good(0, 0), unreachable}, good(2, 0), 3},
		"no answer":           {"likewise", []core.Sample{good(30, 0)}, unreachable, 2},
		"frozen":              {"it answers, and its clock is ahead", []core.Sample{{At: at(50), RunningSince: at(0), Fault: core.ReasonMetricsFrozen}}, good(2, 0), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Append(c.before, c.s, MaxBytes)
			if len(got) != c.want || !got[len(got)-1].At.Equal(c.s.At) {
				t.Errorf("%d samples, the last of %s; want %d: %s", len(got), got[len(got)-1].At, c.want, c.reason)
			}
		})
	}
}
