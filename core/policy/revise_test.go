package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func value(s string) *string { return &s }

func TestRevise(t *testing.T) {
	t.Parallel()
	const window, interval, most = Prefix + "metrics.window", Prefix + "interval", Prefix + "vertex.max-parallelism"
	for name, tt := range map[string]struct {
		reason            string
		set, input        map[string]string
		edits             []Edit
		values            map[string]string
		changes           []Changed
		problems, remains []string
	}{
		"a value": {
			reason: "the highest layer wins", input: map[string]string{most: "10"}, edits: []Edit{{most, value("20")}},
			values: map[string]string{most: "20"}, changes: []Changed{{most, "10", "20", "set-policy"}},
		},
		"merged": {
			reason: "keys that are not named stay", set: map[string]string{most: "20"}, edits: []Edit{{window, value("5 min")}},
			values: map[string]string{most: "20", window: "5 min"}, changes: []Changed{{window, "15 min", "5 min", "set-policy"}},
		},
		"null": {
			reason: "what is below shows again", set: map[string]string{most: "20"}, input: map[string]string{most: "10"}, edits: []Edit{{most, nil}},
			values: map[string]string{}, changes: []Changed{{most, "20", "10", "input"}},
		},
		"null of nothing": {reason: "a repeated signal does no harm", edits: []Edit{{most, nil}}, values: map[string]string{}},
		"null of a typo": {
			reason: "nobody means a key that there is not", edits: []Edit{{Prefix + "vertex.max-paralelism", nil}}, values: map[string]string{},
			problems: []string{Prefix + "vertex.max-paralelism"},
		},
		"another spelling": {
			reason: "the newest order counts, however the key is written", set: map[string]string{most: "20"}, edits: []Edit{{OldPrefix + "vertex.max-parallelism", value("30")}},
			values: map[string]string{most: "30"}, changes: []Changed{{most, "20", "30", "set-policy"}},
		},
		"two spellings at once": {
			reason: "which of the two is meant?", edits: []Edit{{most, value("20")}, {OldPrefix + "vertex.max-parallelism", value("30")}},
			values: map[string]string{most: "20"}, changes: []Changed{{most, "200", "20", "set-policy"}}, problems: []string{OldPrefix},
		},
		"all problems": {
			reason: "at once, across layers too", input: map[string]string{window: "5 min"}, edits: []Edit{{interval, value("10 min")}, {most, value("many")}, {Prefix + "nonsense", value("1")}},
			values: map[string]string{interval: "10 min", most: "many", Prefix + "nonsense": "1"}, problems: []string{"metrics.window", most, "nonsense"},
			changes: []Changed{{interval, "60 s", "10 min", "set-policy"}, {most, "200", "many", "set-policy"}},
		},
		"others' problems": {
			reason: "what is wrong elsewhere cannot be mended here, and must not keep anybody from switching scaling off",
			input:  map[string]string{Prefix + "nonsense": "1"}, edits: []Edit{{Prefix + "scaling.enabled", value("false")}},
			values:  map[string]string{Prefix + "scaling.enabled": "false"},
			changes: []Changed{{Prefix + "scaling.enabled", "true", "false", "set-policy"}}, remains: []string{"nonsense"},
		},
		"mended": {
			reason: "a good value above mends a bad one below", input: map[string]string{most: "many"}, edits: []Edit{{most, value("20")}},
			values: map[string]string{most: "20"}, changes: []Changed{{most, "many", "20", "set-policy"}},
		},
		"the mend is taken away": {
			reason: "what it mended is wrong again", set: map[string]string{most: "20"}, input: map[string]string{most: "many"}, edits: []Edit{{most, nil}},
			values: map[string]string{}, changes: []Changed{{most, "20", "many", "input"}}, problems: []string{most},
		},
		"a parameter": {
			reason: "of a plugin", edits: []Edit{{OldPrefix + "scaling.custom-executor.a.class", value("x")}},
			values:  map[string]string{Prefix + "scaling.custom-executor.a.class": "x"},
			changes: []Changed{{Prefix + "scaling.custom-executor.a.class", "", "x", "set-policy"}},
		},
		"a parameter is removed": {
			reason: "it has no value then", set: map[string]string{Prefix + "scaling.custom-executor.a.class": "x"}, edits: []Edit{{Prefix + "scaling.custom-executor.a.class", nil}},
			values: map[string]string{}, changes: []Changed{{Prefix + "scaling.custom-executor.a.class", "x", "", ""}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Revise([]Layer{{Name: "set-policy", Values: tt.set}, {Name: "input", Values: tt.input}}, tt.edits)
			if diff := cmp.Diff(tt.values, got.Values); diff != "" {
				t.Errorf("%s: values (-want +got):\n%s", tt.reason, diff)
			}
			if diff := cmp.Diff(tt.changes, got.Changes, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: changes (-want +got):\n%s", tt.reason, diff)
			}
			for what, list := range map[string][2]int{"problems": {len(tt.problems), len(got.Problems)}, "remaining": {len(tt.remains), len(got.Remaining)}} {
				if list[0] != list[1] {
					t.Errorf("%s: %d %s, want %d: %v %v", tt.reason, list[1], what, list[0], got.Problems, got.Remaining)
				}
			}
			all := fmt.Sprint(got.Problems, got.Remaining)
			for _, want := range append(tt.problems, tt.remains...) {
				if !strings.Contains(all, want) {
					t.Errorf("%s: no %q in %s", tt.reason, want, all)
				}
			}
		})
	}
}

// TestRevisionIsBounded: the layer is carried for the job's life (I10).
func TestRevisionIsBounded(t *testing.T) {
	t.Parallel()
	var many []Edit
	for i := range maxEdited + 1 {
		many = append(many, Edit{fmt.Sprintf("%sscaling.custom-executor.p%d.x", Prefix, i), value("y")})
	}
	for name, edits := range map[string][]Edit{
		"keys":  many,
		"bytes": {{Prefix + "scaling.custom-executor.p.x", value(strings.Repeat("y", maxEditedBytes))}},
	} {
		if got := Revise([]Layer{{Name: "set-policy"}}, edits); len(got.Problems) == 0 {
			t.Errorf("%s: taken", name)
		}
	}
	if got := Revise([]Layer{{Name: "set-policy"}}, many[:maxEdited]); len(got.Problems) != 0 {
		t.Errorf("%v", got.Problems)
	}
}
