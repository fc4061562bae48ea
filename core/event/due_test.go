package event

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
)

const half = 30 * time.Minute

// day decides once a minute for a day, with rates that never stay the same, and
// gives the minutes in which events were sent.
func day(decide func(minute int, rate float64) (core.Decision, core.Health)) (sent []int) {
	var told []core.Told
	noise := rand.New(rand.NewPCG(1, 2))
	for minute := range 1440 {
		d, h := decide(minute, 100+noise.Float64())
		d.At = noon().Add(time.Duration(minute) * time.Minute)
		var send []core.Event
		send, told = Due(Of(d, h, graph()), told, d.At, half)
		for range send {
			sent = append(sent, minute)
		}
	}
	return sent
}

// recommended wants one vertex larger and may not make it so.
func recommended(id string, from, to int, rate float64, r core.Reason) core.Decision {
	v := vertex(id, from, to)
	v.TrueRate, v.TargetRate = read(rate), read(2*rate)
	d := hold(r, kept(v, r))
	d.Note = fmt.Sprintf("has to do %v/s", 2*rate)
	return d
}

// TestEventSpam is the same wish for a day: it is told at most each half hour,
// and at once when vertices, size or reason change.
func TestEventSpam(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		decide func(minute int, rate float64) (core.Decision, core.Health)
		most   int
		// extra is a minute in which something new must be told.
		extra int
	}{
		"dry run": {"the same recommendation", func(_ int, rate float64) (core.Decision, core.Health) {
			return recommended(source, 1, 2, rate, core.ReasonScalingDisabled), core.Watching
		}, 48, 0},
		"unreachable": {"one error per half hour, not 1440", func(_ int, rate float64) (core.Decision, core.Health) {
			return recommended(source, 1, 1, rate, core.ReasonUnreachable), core.Blocked
		}, 48, 0},
		"quota": {"a wanted size that moves with the load", func(minute int, rate float64) (core.Decision, core.Health) {
			return recommended(source, 1, 10+minute%7, rate, core.ReasonQuota), core.Blocked
		}, 48, 0},
		"bad policy": {"the same problems", func(_ int, rate float64) (core.Decision, core.Health) {
			d := recommended(source, 1, 1, rate, core.ReasonPolicyInvalid)
			d.Problems = []core.Problem{{Path: "a", Message: "is bad"}}
			return d, core.Blocked
		}, 48, 0},
		"another size": {"told at once", func(minute int, rate float64) (core.Decision, core.Health) {
			to := 2
			if minute >= 77 {
				to = 3
			}
			return recommended(source, 1, to, rate, core.ReasonScalingDisabled), core.Watching
		}, 49, 77},
		"other sizes run": {"told at once", func(minute int, rate float64) (core.Decision, core.Health) {
			d := recommended(source, 1, 2, rate, core.ReasonScalingDisabled)
			d.Vertices = append(d.Vertices, vertex(sink, 4+minute/721, 4+minute/721))
			return d, core.Watching
		}, 49, 721},
		"another vertex": {"told at once", func(minute int, rate float64) (core.Decision, core.Health) {
			if minute >= 77 {
				return recommended(sink, 1, 2, rate, core.ReasonScalingDisabled), core.Watching
			}
			return recommended(source, 1, 2, rate, core.ReasonScalingDisabled), core.Watching
		}, 49, 77},
		"another reason": {"told at once", func(minute int, rate float64) (core.Decision, core.Health) {
			if minute >= 77 {
				return recommended(source, 1, 2, rate, core.ReasonPaused), core.Paused
			}
			return recommended(source, 1, 2, rate, core.ReasonScalingDisabled), core.Watching
		}, 49, 77},
		"within target": {"an idle job sends nothing", func(_ int, rate float64) (core.Decision, core.Health) {
			return recommended(source, 1, 1, rate, core.ReasonWithinTarget), core.Watching
		}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent := day(tt.decide)
			if len(sent) > tt.most || len(sent) < tt.most-1 {
				t.Errorf("%s: %d events, want %d", tt.reason, len(sent), tt.most)
			}
			if tt.most > 0 && (sent[0] != 0 || !slices.Contains(sent, tt.extra)) {
				t.Errorf("%s: sent in the minutes %v, want one in 0 and in %d", tt.reason, sent, tt.extra)
			}
		})
	}
}

func TestEachChangeIsReported(t *testing.T) {
	t.Parallel()
	var told []core.Told
	one := Of(change(core.ReasonScaleUp, vertex(source, 1, 2)), core.Watching, graph())
	dry := Of(recommended(source, 1, 2, 100, core.ReasonPaused), core.Paused, graph())
	for i, events := range [][]core.Event{one, one, dry, dry, one, dry} {
		var send []core.Event
		send, told = Due(events, told, noon().Add(time.Duration(i)*time.Minute), half)
		if want := i != 3; (len(send) == 1) != want {
			t.Errorf("step %d: %d sent; a change is always reported, and after it a recommendation is news", i, len(send))
		}
	}
}

func TestRepeated(t *testing.T) {
	t.Parallel()
	events := Of(hold(core.ReasonUnreachable), core.Blocked, graph())
	for name, tt := range map[string]struct {
		reason string
		after  time.Duration
		sent   bool
		// interval is half an hour where it is not given.
		interval time.Duration
	}{
		"at once":              {"told already", 0, false, half},
		"within":               {"told already", half - time.Second, false, half},
		"at the end":           {"the interval is over", half, true, half},
		"much later":           {"the interval is over", 24 * time.Hour, true, half},
		"clock a little back":  {"another clock is no reason to repeat", -time.Minute, false, half},
		"clock far back":       {"nor one to be silent for long", -24 * time.Hour, true, half},
		"no interval":          {"0 tells everything", time.Second, true, 0},
		"an interval of a day": {"the policy's counts", time.Hour, false, 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, told := Due(events, nil, noon(), tt.interval)
			before := slices.Clone(told)
			send, _ := Due(events, told, noon().Add(tt.after), tt.interval)
			if got := len(send) == 1; got != tt.sent {
				t.Errorf("%s: sent %v, want %v", tt.reason, got, tt.sent)
			}
			if len(send) == 1 && send[0].Repeated != (tt.interval > 0) {
				t.Errorf("%s: repeated is %v", tt.reason, send[0].Repeated)
			}
			if diff := cmp.Diff(before, told); diff != "" {
				t.Errorf("what was told before was written to (-want +got):\n%s", diff)
			}
		})
	}
}

// TestToldIsBounded: the newest hundred stay, sorted by key; what is over is
// dropped even when nothing is sent, and nothing at all is nil again.
func TestToldIsBounded(t *testing.T) {
	t.Parallel()
	var told []core.Told
	now := noon()
	for i := range 3 * maxTold {
		now = now.Add(time.Second)
		_, told = Due([]core.Event{{Kind: core.EventError, Key: fmt.Sprintf("key %03d", 3*maxTold-i)}}, told, now, half)
	}
	if len(told) != maxTold || told[0].Key != "key 001" || told[maxTold-1].Key != fmt.Sprintf("key %03d", maxTold) {
		t.Errorf("%d are remembered, %s to %s", len(told), told[0].Key, told[len(told)-1].Key)
	}
	if !slices.IsSortedFunc(told, func(a, b core.Told) int { return strings.Compare(a.Key, b.Key) }) {
		t.Error("not sorted by key")
	}
	if _, told = Due(nil, told, now.Add(half-time.Second), half); len(told) != 1 {
		t.Errorf("%d are remembered at the end of the interval, want the last", len(told))
	}
	if _, told = Due(nil, told, now.Add(half), half); told != nil {
		t.Errorf("%v is remembered after the interval; want nil, which is nothing to keep", told)
	}
}

// TestSameTwiceInOneDecision: an event without a key is known by its message.
func TestSameTwiceInOneDecision(t *testing.T) {
	t.Parallel()
	e := core.Event{Kind: core.EventError, Message: "the same"}
	if send, told := Due([]core.Event{e, e}, nil, noon(), half); len(send) != 1 || len(told) != 1 {
		t.Errorf("%d sent, %d remembered; want 1 and 1", len(send), len(told))
	}
}
