package collect

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// at makes a good sample at a second after start, of the attempt that began
// then; its clock is its time.
func at(second int) core.Sample {
	return core.Sample{
		At: start().Add(time.Duration(second) * time.Second), RunningSince: start(), Clock: core.Read(float64(second) + 1),
		Vertices: []core.VertexSample{{ID: "a", Parallelism: 1, RecordsIn: core.Read(float64(second) * 10), RecordsOut: core.Read(0)}},
	}
}

func many(seconds ...int) []core.Sample {
	var out []core.Sample
	for _, s := range seconds {
		out = append(out, at(s))
	}
	return out
}

func faulty(second int, r core.Reason) core.Sample {
	s := at(second)
	s.Fault, s.Vertices = r, nil
	return s
}

func seconds(from, to, step int) []int {
	var out []int
	for s := from; s <= to; s += step {
		out = append(out, s)
	}
	return out
}

func TestCounted(t *testing.T) {
	t.Parallel()
	short := policy.Policy{MetricsWindow: 100 * time.Second, StabilizationInterval: 10 * time.Second}
	none := policy.Policy{MetricsWindow: 100 * time.Second}
	changed := func(s core.Sample, f func(*core.Sample)) core.Sample { f(&s); return s }
	cases := map[string]struct {
		reason  string
		policy  policy.Policy
		samples []core.Sample
		count   int
		full    bool
		keep    int // second after start
	}{
		"nothing":          {"no sample, no evidence", short, nil, 0, false, -1},
		"stabilizing":      {"samples before the stable time are not evidence", short, many(0, 1), 0, false, 0},
		"just stable":      {"evidence begins at running + stabilization", short, many(0, 1, 10, 11), 2, false, 0},
		"full":             {"Java: at 110 the window is full and holds 10, 11, 110", short, many(0, 1, 10, 11, 110), 3, true, 10},
		"slides":           {"Java: at 111 the sample at 10 is out", short, many(0, 1, 10, 11, 110, 111), 3, true, 11},
		"after a long gap": {"one sample is not evidence", short, many(10, 11, 110, 86400), 1, false, 86400},
		"regular":          {"every 20 s", short, many(seconds(0, 300, 20)...), 6, true, 200},
		"anchor kept":      {"one sample from before the window shows that it was full", short, many(seconds(0, 310, 31)...), 4, true, 186},
		"faults are holes": {"a sample with a fault never counts", none, append(many(0, 20, 40, 100), faulty(60, core.ReasonUnreachable)), 4, true, 0},
		"hole at the old end": {"a small hole at the old end leaves the window full", none,
			append(many(0), append([]core.Sample{faulty(20, core.ReasonMetricsFrozen)}, many(40, 60, 80, 100, 105)...)...), 5, true, 0},
		"large hole at the old end": {"half of the window must be covered", none, many(0, 70, 80, 105), 3, false, 0},
		"all faults":                {"only the newest is of use", short, []core.Sample{faulty(50, core.ReasonUnreachable), faulty(60, core.ReasonUnreachable)}, 0, false, 60},
		"restarted": {"samples of the attempt before are no evidence", none,
			append(many(0, 50, 100), changed(at(120), func(s *core.Sample) { s.RunningSince = start().Add(110 * time.Second) })), 1, false, 120},
		"restarted, seen only in a fault": {"a newer attempt ends the older one, whatever else the sample says", none,
			append(many(0, 50, 100), changed(faulty(120, core.ReasonTasksNotRunning), func(s *core.Sample) { s.RunningSince = start().Add(110 * time.Second) })), 0, false, 120},
		"unreachable inside an attempt": {"a sample that does not know the attempt ends none", none,
			append(many(0, 50, 100), changed(faulty(120, core.ReasonUnreachable), func(s *core.Sample) { s.RunningSince = time.Time{} })), 3, true, 0},
		"tasks start late": {"BC-10: stabilization begins when all tasks run", short,
			append([]core.Sample{faulty(0, core.ReasonTasksNotRunning), faulty(60, core.ReasonTasksNotRunning)}, many(65, 70, 75, 80)...), 2, false, 0},
		"clock stands": {"I12: a sample with the clock of the one before does not count", none,
			append(many(0, 10, 20), changed(at(30), func(s *core.Sample) { s.Clock = core.Read(21) })), 3, false, 0},
		"no clock": {"I12: a clock that is not there did not move", none,
			append(many(0, 10, 20), changed(at(30), func(s *core.Sample) { s.Clock = core.Reading{} })), 3, false, 0},
		"counter fell": {"a reset inside an attempt begins the window anew", none,
			append(many(0, 50, 100), changed(at(105), func(s *core.Sample) { s.Vertices[0].RecordsIn = core.Read(3) })), 1, false, 105},
		"size changed": {"numbers of another size do not compare", none,
			append(many(0, 50, 100), changed(at(105), func(s *core.Sample) { s.Vertices[0].Parallelism = 2 })), 1, false, 105},
		"vertices changed": {"numbers of another graph do not compare", none,
			append(many(0, 50, 100), changed(at(105), func(s *core.Sample) { s.Vertices[0].ID = "b" })), 1, false, 105},
		"out of order":        {"the order of samples does not matter", none, many(50, 0, 100), 3, true, 0},
		"long outage":         {"after faults for longer than the evidence is good, none is left", short, append(many(10, 60, 115), faulty(600, core.ReasonUnreachable)), 0, false, 600},
		"window as the cycle": {"with two samples about a window apart there are still two", none, many(0, 101, 203), 2, true, 101},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := Counted(c.samples, c.policy)
			if len(w.Samples) != c.count || w.Full != c.full {
				t.Errorf("%d samples, full %v; want %d, %v: %s", len(w.Samples), w.Full, c.count, c.full, c.reason)
			}
			if c.keep >= 0 && !w.KeepFrom.Equal(start().Add(time.Duration(c.keep)*time.Second)) {
				t.Errorf("keep from %s; want second %d", w.KeepFrom.Sub(start()), c.keep)
			}
		})
	}
}

// TestCountedOverTime drops what is not kept after each look, as the workflow
// does: the result must be that of all samples.
func TestCountedOverTime(t *testing.T) {
	t.Parallel()
	p := policy.Policy{MetricsWindow: 100 * time.Second, StabilizationInterval: 30 * time.Second}
	var all, kept []core.Sample
	for s := 0; s < 2000; s += 7 {
		next := at(s)
		switch {
		case s < 30:
			next = faulty(s, core.ReasonTasksNotRunning)
		case s%5 == 0:
			next = faulty(s, core.ReasonUnreachable)
			next.RunningSince = time.Time{}
		case s > 1000 && s < 1500:
			next = faulty(s, core.ReasonMetricsFrozen)
		}
		all, kept = append(all, next), append(kept, next)
		want, got := Counted(all, p), Counted(kept, p)
		if diff := cmp.Diff(want.Samples, got.Samples); diff != "" || want.Full != got.Full || want.Stabilizing != got.Stabilizing {
			t.Fatalf("second %d: full %v, want %v (-all +kept):\n%s", s, got.Full, want.Full, diff)
		}
		var rest []core.Sample
		for _, x := range kept {
			if !x.At.Before(got.KeepFrom) {
				rest = append(rest, x)
			}
		}
		if len(rest) == 0 || !rest[len(rest)-1].At.Equal(next.At) {
			t.Fatalf("second %d: the newest sample is thrown away", s)
		}
		kept = rest
		if len(kept) > 100 {
			t.Fatalf("second %d: %d samples kept", s, len(kept))
		}
	}
}

func TestTrim(t *testing.T) {
	t.Parallel()
	samples := many(seconds(0, 1000, 10)...)
	for i := 40; i < 60; i++ {
		samples[i] = faulty(i*10, core.ReasonUnreachable)
	}
	for _, limit := range []int{1 << 20, 20000, 5000, 1500, 400, 1} {
		got := Trim(samples, limit)
		b, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) > 1 && len(b) > limit {
			t.Errorf("limit %d: %d bytes in %d samples", limit, len(b), len(got))
		}
		if len(got) == 0 || !got[len(got)-1].At.Equal(samples[len(samples)-1].At) {
			t.Errorf("limit %d: the newest sample is gone", limit)
		}
		if limit >= 1500 && !got[0].At.Equal(samples[0].At) {
			t.Errorf("limit %d: the oldest sample is gone", limit)
		}
	}
	if got := Trim(samples, 1<<20); len(got) != len(samples) {
		t.Errorf("%d of %d samples left though all fit", len(got), len(samples))
	}
	if got := Trim(nil, 10); len(got) != 0 {
		t.Errorf("Trim(nil) = %v", got)
	}
}

func TestTrimDropsFaultsFirst(t *testing.T) {
	t.Parallel()
	samples := append(many(0, 10), faulty(20, core.ReasonUnreachable), faulty(30, core.ReasonUnreachable), faulty(40, core.ReasonUnreachable))
	samples = append(samples, many(50, 60)...)
	total := 0
	for _, s := range samples {
		total += jsonSize(s)
	}
	got := Trim(samples, total-50)
	if len(got) != 6 || !got[3].At.Equal(samples[4].At) { // samples[3] is gone
		t.Errorf("%d samples left; want all but the fault between two faults", len(got))
	}
}

// TestJSONSizeIsAnUpperEstimate keeps the cap in bytes honest.
func TestJSONSizeIsAnUpperEstimate(t *testing.T) {
	t.Parallel()
	s, _ := Sample(healthy(), nil)
	degraded := s
	degraded.Asked = true
	for i := range 300 {
		degraded.Wanted = append(degraded.Wanted, core.Bounds{ID: fmt.Sprintf("%032d", i), Lower: 1, Upper: i + 100})
	}
	for name, x := range map[string]core.Sample{"healthy": s, "degraded": degraded, "fault": faulty(7, core.ReasonUnreachable), "plain": at(3)} {
		b, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		if got := jsonSize(x); got < len(b) || got > len(b)*3/2+100 {
			t.Errorf("%s: estimate %d for %d bytes", name, got, len(b))
		}
	}
}
