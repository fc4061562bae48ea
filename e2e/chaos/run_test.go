package chaos

import (
	"strings"
	"testing"
	"time"
)

// TestReport: the last line is a contract, whatever comes before; anything that
// was found, and anything that was left out, fails the run.
func TestReport(t *testing.T) {
	t.Parallel()
	fault := Injected{Fault{Kind: WorkerKill, Step: AtWrite}, "applied", 20 * time.Second}
	for name, tt := range map[string]struct {
		reason string
		r      Report
		last   string
		failed bool
	}{
		"sound": {"all counts are 0", Report{Seed: 7, Injected: []Injected{fault}}, "chaos: faults=1 wrong_scale_downs=0 double_rescales=0 lost_decisions=0 seed=7", false},
		"found": {"each is counted", Report{Seed: 7, Injected: []Injected{fault, fault}, Verdict: Verdict{
			WrongScaleDowns: []string{"a"}, DoubleRescales: []string{"b", "c"}, LostDecisions: []string{"d", "e", "f"},
		}}, "chaos: faults=2 wrong_scale_downs=1 double_rescales=2 lost_decisions=3 seed=7", true},
		"left out": {"fewer were injected than planned", Report{Seed: 7, Injected: []Injected{fault}, Missing: 1}, "chaos: faults=1 wrong_scale_downs=0 double_rescales=0 lost_decisions=0 seed=7", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			tt.r.Write(&out)
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if got := lines[len(lines)-1]; got != tt.last || tt.r.Failed() != tt.failed {
				t.Errorf("%s: failed %v, last line %q, want %q", tt.reason, tt.r.Failed(), got, tt.last)
			}
			for _, found := range tt.r.Verdict.LostDecisions {
				if !strings.Contains(out.String(), "lost decision: "+found+"\n") {
					t.Errorf("%s: %q is not told", tt.reason, found)
				}
			}
		})
	}
}

// TestEvidence is of the jobs with which something is wrong, in the order of time.
func TestEvidence(t *testing.T) {
	t.Parallel()
	r := sound()
	r.Ends[0].At = at(20)
	v := Verdict{LostDecisions: []string{jobA + " after fault 3: stuck"}}
	if !v.about(jobA) || v.about(jobA[:len(jobA)-1]) || v.about("other") {
		t.Errorf("about %v", v)
	}
	var last time.Time
	lines := r.lines()
	if len(lines) != 6 {
		t.Errorf("%d lines: %v", len(lines), lines)
	}
	for _, l := range lines {
		if l.at.Before(last) || l.job != jobA {
			t.Errorf("%+v", l)
		}
		last = l.at
	}
}
