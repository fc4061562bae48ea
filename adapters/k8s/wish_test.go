package k8s

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
)

// wishIn reads the order of an object, with the job that the operator runs.
func wishIn(t *testing.T, o *object) wish {
	t.Helper()
	s, err := wishOf(operated{&view{kind: flinkDeployment{}, object: o, base: o, job: core.JobRef{ID: "job1"}}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// at is what is wanted of vertices a, b, c in turn.
func at(uppers ...int) core.Requirements {
	var out core.Requirements
	for i, n := range uppers {
		out = append(out, core.Bounds{ID: []string{idA, idB, idC}[i], Lower: 1, Upper: n})
	}
	return out
}

func TestNextOverrides(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason          string
		asked, last     overrides
		now, wish       core.Requirements
		want            overrides
		same, restoring bool
	}{
		"first":        {"only what changes is written", nil, nil, at(1, 3), at(1, 5), overrides{idB: 5}, false, false},
		"nothing":      {"a job at its sizes needs no entry", nil, nil, at(1, 3), at(1, 3), overrides{}, true, true},
		"kept":         {"an entry that stays, stays: its loss is a full upgrade", overrides{idA: 2}, overrides{idA: 2}, at(2, 3), at(2, 5), overrides{idA: 2, idB: 5}, false, false},
		"taken out":    {"a person took it out just now, the operator has it still", nil, overrides{idA: 2}, at(2, 3), at(2, 5), overrides{idA: 2, idB: 5}, false, false},
		"stale":        {"a vertex that is no more goes with the next write", overrides{idC: 9, idA: 2}, overrides{idC: 9, idA: 2}, at(2, 3), at(4, 3), overrides{idA: 4}, false, false},
		"stale alone":  {"and is not worth one", overrides{idC: 9, idA: 2}, overrides{idC: 9, idA: 2}, at(2, 3), at(2, 3), overrides{idA: 2}, true, true},
		"back":         {"the number before is written, the entry stays", overrides{idB: 5}, overrides{idB: 3}, at(1, 3), at(1, 3), overrides{idB: 3}, false, true},
		"back to none": {"the operator never had an entry: it is written all the same", overrides{idB: 5}, overrides{}, at(1, 3), at(1, 3), overrides{idB: 3}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := wishIn(t, parse(t, steady))
			s.asked, s.last.overrides = tc.asked, tc.last
			got := s.next(tc.wish, tc.now)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if s.is(got, tc.wish) != tc.same || s.restores(got, tc.wish) != tc.restoring {
				t.Errorf("%s: the same %v, restores %v", tc.reason, s.is(got, tc.wish), s.restores(got, tc.wish))
			}
		})
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	set := func(path string, value any) func(*object) *object {
		return func(o *object) *object { return o.with(t, path, value) }
	}
	for name, tc := range map[string]struct {
		reason string
		edit   func(*object) *object
		want   error
		words  string
		// always is true where taking back is no better.
		always bool
	}{
		"steady":              {"nothing is in the way", func(o *object) *object { return o }, nil, "", false},
		"deployed":            {"the operator is done, and will say STABLE", set("status.lifecycleState", "DEPLOYED"), nil, "", false},
		"operator 1.7":        {"it tells the generation elsewhere", func(o *object) *object { return before18(t, o, 4) }, nil, "", false},
		"1.7 waits for slots": {"for ever, and takes another change", func(o *object) *object { return before18(t, o, 4).with(t, "status.lifecycleState", "UPGRADING") }, nil, "", false},
		"a failing job":       {"a smaller size may be what helps", set("status.jobStatus.state", "RESTARTING"), nil, "", false},
		"1.7 not seen":        {"the change would be mixed with another", func(o *object) *object { return before18(t, o, 3) }, core.ErrBusy, "generation 4 yet, only 3", false},
		"not seen":            {"likewise; the operator still says STABLE", set("metadata.generation", int64(5)), core.ErrBusy, "generation 5 yet, only 4", false},
		"never seen":          {"is it watched at all?", set("status", map[string]any{"jobStatus": map[string]any{"jobId": "job1"}}), core.ErrBusy, "generation 4 yet, only 0", false},
		"upgrading":           {"the operator replaces the job", set("status.lifecycleState", "UPGRADING"), core.ErrNotReady, "at work", false},
		"1.7 upgrading": {"its last spec says suspended meanwhile", func(o *object) *object {
			o = before18(t, o, 4).with(t, "status.lifecycleState", "UPGRADING")
			return o.with(t, "status.reconciliationStatus.lastReconciledSpec", strings.Replace(o.text("status", "reconciliationStatus", "lastReconciledSpec"), "running", "suspended", 1))
		}, core.ErrNotReady, "at work", false},
		"failed":        {"a change would not mend it", set("status.lifecycleState", "FAILED"), core.ErrNotReady, "at work", false},
		"error":         {"the operator's words are told", set("status.error", `{"message":"boom"}`), core.ErrNotReady, "boom", false},
		"dead manager":  {"STABLE is said all the same; in place would become an upgrade", set("status.jobStatus.state", "RECONCILING"), core.ErrNotReady, "does not see the job run", false},
		"no manager":    {"likewise", set("status.jobManagerDeploymentStatus", "DEPLOYING"), core.ErrNotReady, "JobManager is not ready", false},
		"savepoint":     {"an upgrade waits for it, a change in place ends it", set("status.jobStatus.savepointInfo", map[string]any{"triggerId": "t1"}), core.ErrBusy, "savepoint", false},
		"another job":   {"it was submitted anew", set("status.jobStatus.jobId", "job2"), core.ErrNotFound, "another job", true},
		"being deleted": {"nothing is to be changed any more", set("metadata.deletionTimestamp", "2026-01-01T00:00:00Z"), core.ErrNotReady, "deleted", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := wishIn(t, tc.edit(parse(t, steady)))
			err := s.ready(false)
			if !errors.Is(err, tc.want) || err != nil && !strings.Contains(err.Error(), tc.words) {
				t.Errorf("%s: %v, want %v with %q", tc.reason, err, tc.want, tc.words)
			}
			if back := s.ready(true); (back != nil) != tc.always {
				t.Errorf("%s: taking back what the operator has not begun: %v", tc.reason, back)
			}
		})
	}
}

func TestCarried(t *testing.T) {
	t.Parallel()
	set := func(path string, value any) func(*object) *object {
		return func(o *object) *object { return o.with(t, path, value) }
	}
	for name, tc := range map[string]struct {
		reason string
		edit   func(*object) *object
		wish   core.Requirements
		note   string // empty: done
	}{
		"done":                {"all steps are made", func(o *object) *object { return o }, at(3, 7), ""},
		"done, deployed":      {"STABLE comes with the next look of the operator", set("status.lifecycleState", "DEPLOYED"), at(3, 7), ""},
		"done, 1.7":           {"it tells the generation elsewhere", func(o *object) *object { return before18(t, o, 4) }, at(3, 7), ""},
		"not seen":            {"STABLE from before proves nothing", set("metadata.generation", int64(5)), at(3, 7), "generation 5 yet, only 4"},
		"not seen, 1.7":       {"likewise", func(o *object) *object { return before18(t, o, 3) }, at(3, 7), "generation 4 yet, only 3"},
		"somebody else's":     {"the object asks for something else by now", func(o *object) *object { return o }, at(5, 7), "asks for 3 of vertex"},
		"its own sizes":       {"the operator's autoscaler wins in silence", set("status.reconciliationStatus.lastReconciledSpec", `{"spec":{"flinkConfiguration":{"`+overridesKey+`":"`+idA+`:6"}}}`), at(3, 7), "own autoscaler"},
		"not taken over":      {"the operator has no size for it", set("status.reconciliationStatus.lastReconciledSpec", `{"spec":{"flinkConfiguration":{}}}`), at(3, 7), "own autoscaler"},
		"1.7 waits for slots": {"the job does not run at it", func(o *object) *object { return before18(t, o, 4).with(t, "status.lifecycleState", "UPGRADING") }, at(3, 7), "lifecycle UPGRADING"},
		"error":               {"the operator's words are told", set("status.error", "boom"), at(3, 7), "boom"},
		"no job":              {"STABLE is said while the JobManager is dead", set("status.jobStatus.state", "RECONCILING"), at(3, 7), "job RECONCILING"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := wishIn(t, tc.edit(parse(t, steady))).carried(t.Context(), tc.wish)
			if err != nil {
				t.Fatal(err)
			}
			reason := core.ReasonNotCarried
			switch name {
			case "somebody else's":
				reason = core.ReasonForeignWriter
			case "1.7 waits for slots":
				reason = core.ReasonNotReached
			}
			if got.Done != (tc.note == "") || !got.Done && (got.Reason != reason || !strings.Contains(got.Note, tc.note)) {
				t.Errorf("%s: %+v, want %q", tc.reason, got, tc.note)
			}
		})
	}
}

func TestCheckSizes(t *testing.T) {
	t.Parallel()
	known := core.Topology{Vertices: []core.Vertex{{ID: idA, MaxParallelism: 12}, {ID: idB, MaxParallelism: 12}}}
	twice := append(at(3), at(3)...)
	raised := at(3, 4)
	raised[1].Lower = 2
	for name, tc := range map[string]struct {
		reason string
		wish   core.Requirements
		known  core.Topology
		want   error
		words  string
	}{
		"fine":             {"up to the maximum", at(12, 1), known, nil, ""},
		"above":            {"Flink would refuse, and the operator upgrade", at(13, 1), known, core.ErrRefused, "max parallelism is 12"},
		"zero":             {"no vertex runs at 0", at(0, 1), known, core.ErrRefused, "cannot run at 0"},
		"a raised lower":   {"the operator sets it", raised, known, core.ErrRefused, "lower bound"},
		"one missing":      {"the list is complete", at(3), known, core.ErrRefused, "1 vertices, the job has 2"},
		"one too many":     {"the job has no such vertex", at(3, 4, 5), known, core.ErrRefused, "3 vertices, the job has 2"},
		"twice":            {"each stands once", twice, known, core.ErrRefused, "named twice"},
		"none":             {"nothing is wanted", nil, known, core.ErrRefused, "0 vertices"},
		"smaller, waiting": {"a job that waits for slots shows no graph; less than now is fine", at(2, 1), core.Topology{}, nil, ""},
		"had before":       {"the operator has run it at that", at(9, 1), core.Topology{}, nil, ""},
		"larger, waiting":  {"its maximum is not known", at(10, 1), core.Topology{}, core.ErrNotReady, "not known whether"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := wishIn(t, parse(t, steady))
			s.last.overrides = overrides{idA: 9}
			err := s.check(tc.wish, at(3, 4), tc.known)
			if !errors.Is(err, tc.want) || err != nil && !strings.Contains(err.Error(), tc.words) {
				t.Errorf("%s: %v, want %v with %q", tc.reason, err, tc.want, tc.words)
			}
		})
	}
}
