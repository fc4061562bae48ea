package whatif

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

func start() time.Time { return time.Date(2026, 7, 20, 12, 0, 0, 0, time.UTC) }

func graph() core.Topology {
	return core.Topology{Vertices: []core.Vertex{
		{ID: "map", Name: "map", Parallelism: 10, MaxParallelism: 128, Inputs: []core.Edge{{From: "src", Ship: "REBALANCE"}}},
		{ID: "src", Name: "Source: src", Parallelism: 10, MaxParallelism: 128},
	}}
}

// look is what is seen a number of minutes after the start: records come at a
// rate, and the vertex in the middle is busy for so many ms per second.
func look(minute, rate, busy float64) core.Observation {
	na := core.Absent(core.NotApplicable)
	total := core.Read(minute * 60 * rate)
	vertex := func(id string, busy float64) core.VertexSample {
		b := core.Read(busy)
		return core.VertexSample{
			ID: id, Parallelism: 10, RecordsIn: total, RecordsOut: total, InPerSecond: core.Read(rate),
			BusyMin: b, BusyAvg: b, BusyMax: b, BusyTotal: core.Read(minute * 60 * busy * 10), BackPressure: na, Lag: na,
		}
	}
	src := vertex("src", 300)
	src.BackPressure, src.Lag = core.Read(0), core.Read(0)
	return core.Observation{
		Job: core.JobRef{ID: "job-1", Name: "orders", FlinkVersion: "2.3.0"}, Digest: "d", ConfigDigest: "none",
		Sample: core.Sample{
			At: start().Add(time.Duration(minute * float64(time.Minute))), RunningSince: start(), Clock: core.Read(1e9 * (minute + 1)),
			Vertices: []core.VertexSample{vertex("map", busy), src},
		},
	}
}

// firstLook brings the graph, as the first look at a job does.
func firstLook(minute, rate, busy float64) core.Observation {
	o := look(minute, rate, busy)
	g := graph()
	o.Topology = &g
	return o
}

func layers(keys map[string]string) func(map[string]string) []policy.Layer {
	return func(config map[string]string) []policy.Layer {
		return []policy.Layer{{Name: "input", Values: keys}, {Name: "job configuration", Values: config}}
	}
}

// short is a policy under which tests need few looks.
func short() map[string]string {
	return map[string]string{
		"job.autoscaler.metrics.window": "5 min", "job.autoscaler.stabilization.interval": "0 s", "job.autoscaler.scale-down.interval": "10 min",
	}
}

// TestReplayCarriesWhatADecisionRemembers: a delay begins with the first
// decision that would have made it smaller, and ends in time.
func TestReplayCarriesWhatADecisionRemembers(t *testing.T) {
	t.Parallel()
	r := NewReplay(core.JobKey{Cluster: "dev", Job: "orders"}, layers(short()))
	var got []string
	var last core.Decision
	for minute := range 20 {
		o := look(float64(minute), 800, 200)
		if minute == 0 {
			o = firstLook(0, 800, 200)
		}
		s := r.Look(o)
		if minute == 0 || Turn(last, s.Decision) {
			got = append(got, s.Decision.At.Format("15:04 ")+string(s.Decision.Verdict)+" "+string(s.Decision.Reason))
		}
		last = s.Decision
	}
	want := []string{"12:00 hold window-not-full", "12:05 hold scale-down-delayed", "12:15 change scale-down"}
	// What is done with a change is not carried out; the delay begins anew.
	if diff := cmp.Diff(want, got[:min(len(got), len(want))]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := len(r.window); n > 8 {
		t.Errorf("%d samples are kept of a window of 6", n)
	}
}

func TestReplayFollowsTheJobsConfiguration(t *testing.T) {
	t.Parallel()
	r := NewReplay(core.JobKey{Cluster: "dev", Job: "orders"}, layers(map[string]string{"job.autoscaler.interval": "30 s"}))
	first := firstLook(0, 800, 200)
	first.Config, first.ConfigDigest = map[string]string{"job.autoscaler.vertex.max-parallelism": "7"}, "c1"
	second := look(1, 800, 200)
	second.ConfigDigest = "c1"
	third := look(2, 800, 200)
	bad := look(3, 800, 200)
	bad.Config, bad.ConfigDigest = map[string]string{"job.autoscaler.vertex.max-parallelism": "many"}, "c2"
	var got []int
	var last Step
	for _, o := range []core.Observation{first, second, third, bad} {
		last = r.Look(o)
		got = append(got, last.Policy.MaxParallelism)
	}
	if diff := cmp.Diff([]int{7, 7, 200, 200}, got); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	if last.Decision.Reason != core.ReasonPolicyInvalid || len(last.Problems) != 1 || !strings.Contains(last.Problems[0].Message, `got "many"`) {
		t.Errorf("a bad configuration gives %s and %v", last.Decision.Reason, last.Problems)
	}
	digest, config, sample := r.Known()
	if digest != "d" || config != "c2" || !sample.At.Equal(bad.Sample.At) || sample.Clock != bad.Sample.Clock {
		t.Errorf("known are %q, %q and the sample of %s", digest, config, sample.At)
	}
}

// TestAFaultIsAHoldAndTheGraphStays: a look that found nothing takes nothing
// away from what is known.
func TestAFaultIsAHoldAndTheGraphStays(t *testing.T) {
	t.Parallel()
	r := NewReplay(core.JobKey{Cluster: "dev", Job: "orders"}, layers(short()))
	r.Look(firstLook(0, 800, 200))
	s := r.Look(core.Observation{Digest: "d", ConfigDigest: "none", Sample: core.Sample{At: start().Add(time.Minute), Fault: core.ReasonUnreachable, Note: "no answer"}})
	if s.Decision.Reason != core.ReasonUnreachable || s.Decision.Verdict != core.Hold || len(s.Topology.Vertices) != 2 || s.Job.ID != "job-1" {
		t.Errorf("%s: %s, %d vertices of job %q", s.Decision.Verdict, s.Decision.Reason, len(s.Topology.Vertices), s.Job.ID)
	}
}

// TestEveryFactIsCarried: what a decision may know is either carried from the
// looks, or something that only a workflow has.
func TestEveryFactIsCarried(t *testing.T) {
	t.Parallel()
	ofWorkflows := []string{"Pause", "Override", "Consent", "AskedAt", "RescaleOpen", "RetryAfter", "LastOutcome", "ManagedBy", "Extras", "Turn"}
	r := NewReplay(core.JobKey{Cluster: "dev", Job: "orders"}, layers(short()))
	o := firstLook(0, 800, 200)
	o.Config, o.ConfigDigest = map[string]string{"taskmanager.numberOfTaskSlots": "4"}, "c"
	o.Job.Means = &core.Means{Method: "m"}
	r.cycle = 1
	r.see(o)
	r.memory.LagSeen = []string{"src"}
	got := reflect.ValueOf(r.context(o.Sample))
	for i := range got.NumField() {
		name := got.Type().Field(i).Name
		if got.Field(i).IsZero() != slices.Contains(ofWorkflows, name) {
			t.Errorf("%s is %v: carry it in see and context, or say here that only a workflow has it", name, got.Field(i))
		}
	}
}

func TestTurn(t *testing.T) {
	t.Parallel()
	size := func(v core.Verdict, why core.Reason, to int) core.Decision {
		return core.Decision{Verdict: v, Reason: why, Note: "differs each time", Vertices: []core.VertexDecision{{ID: "map", From: 2, To: to}}}
	}
	for name, tt := range map[string]struct {
		reason string
		a, b   core.Decision
		want   bool
	}{
		"same hold":    {"numbers move all the time", size(core.Hold, core.ReasonWithinTarget, 2), size(core.Hold, core.ReasonWithinTarget, 2), false},
		"other reason": {"another thing is in the way", size(core.Hold, core.ReasonWithinTarget, 2), size(core.Hold, core.ReasonDownDelayed, 2), true},
		"change":       {"what one waits for", size(core.Hold, core.ReasonWithinTarget, 2), size(core.Change, core.ReasonScaleUp, 3), true},
		"same change":  {"asked for again", size(core.Change, core.ReasonScaleUp, 3), size(core.Change, core.ReasonScaleUp, 3), false},
		"other size":   {"another answer", size(core.Change, core.ReasonScaleUp, 3), size(core.Change, core.ReasonScaleUp, 4), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Turn(tt.a, tt.b); got != tt.want {
				t.Errorf("%s: %t, want %t", tt.reason, got, tt.want)
			}
		})
	}
}
