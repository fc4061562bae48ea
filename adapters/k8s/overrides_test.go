package k8s

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	idA = strings.Repeat("a", 32) //nolint:gochecknoglobals // a constant
	idB = strings.Repeat("b", 32) //nolint:gochecknoglobals // a constant
	idC = strings.Repeat("c", 32) //nolint:gochecknoglobals // a constant
)

func TestParseOverrides(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, text string
		want         overrides
		wrong        string
	}{
		"none":          {"an empty text is no override", " ", overrides{}, ""},
		"two":           {"the form that every operator reads", idB + ":3," + idA + ":12", overrides{idA: 12, idB: 3}, ""},
		"spaces":        {"Flink takes them", " " + idA + " : 2 , " + idB + ":1", overrides{idA: 2, idB: 1}, ""},
		"word":          {"took a real job down for good", idA + ":abc", nil, `"abc" is no size`},
		"zero":          {"no vertex runs at 0", idA + ":0", nil, `"0" is no size`},
		"negative":      {"nor below", idA + ":-1", nil, `"-1" is no size`},
		"fraction":      {"Flink wants whole numbers", idA + ":1.5", nil, `"1.5" is no size`},
		"too large":     {"Flink's are 32 bits; this is none at all", idA + ":99999999999999999999", nil, "is no size"},
		"no size":       {"half an entry", idA, nil, `"" is no size`},
		"short id":      {"no vertex has it", "abc:1", nil, "is no vertex id"},
		"capital id":    {"the operator would not find the vertex", strings.ToUpper(idA) + ":1", nil, "is no vertex id"},
		"twice":         {"which one counts is not ours to guess", idA + ":1," + idA + ":1", nil, "named twice"},
		"empty entry":   {"a comma too many", idA + ":1,", nil, "is no vertex id"},
		"yaml map":      {"Flink's other form, which not every operator reads", "{" + idA + ": 1}", nil, "is no vertex id"},
		"list of pairs": {"a list is flattened with semicolons", idA + ":1;" + idB + ":2", nil, "is no size"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parseOverrides(tc.text)
			if (err == nil) != (tc.wrong == "") || err != nil && !strings.Contains(err.Error(), tc.wrong) {
				t.Fatalf("%s: error %v, want %q", tc.reason, err, tc.wrong)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOverridesAsText(t *testing.T) {
	t.Parallel()
	if got, want := (overrides{idC: 3, idA: 1, idB: 20}).String(), idA+":1,"+idB+":20,"+idC+":3"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := (overrides{}).String(); got != "" {
		t.Errorf("no override is %q", got)
	}
	if diff := cmp.Diff(overrides{idA: 1}, overrides{idA: 1, idB: 2}.of([]string{idA, idC})); diff != "" {
		t.Errorf("of some vertices (-want +got):\n%s", diff)
	}
}

func TestFindOverrides(t *testing.T) {
	t.Parallel()
	text := idA + ":2"
	for name, tc := range map[string]struct {
		reason string
		config map[string]any
		at     spelling
		wrong  string
	}{
		"absent": {"another key of the same family is none", map[string]any{"pipeline.max-parallelism": "24", "pipeline": map[string]any{"name": "x"}}, nil, ""},
		"flat":   {"as most people write it", map[string]any{overridesKey: text}, spelling{overridesKey}, ""},
		"nested": {"a map is flattened with dots", map[string]any{"pipeline": map[string]any{"jobvertex-parallelism-overrides": text}}, spelling{"pipeline", "jobvertex-parallelism-overrides"}, ""},
		"both spellings": {
			"which one counts depends on the operator",
			map[string]any{overridesKey: text, "pipeline": map[string]any{"jobvertex-parallelism-overrides": text}}, nil, "2 times",
		},
		"as a map": {"Flink reads it, but it is not one value any more", map[string]any{overridesKey: map[string]any{idA: int64(2)}}, nil, "not written as one text"},
		"as keys":  {"likewise, dotted", map[string]any{overridesKey + "." + idA: "2"}, nil, "not written as one text"},
		"a number": {"nothing that Flink reads", map[string]any{overridesKey: int64(3)}, nil, "not written as one text"},
		"broken":   {"it says what is wrong", map[string]any{overridesKey: idA + ":x"}, nil, `"x" is no size`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, at, err := findOverrides(tc.config)
			if (err == nil) != (tc.wrong == "") || err != nil && !strings.Contains(err.Error(), tc.wrong) {
				t.Fatalf("%s: error %v, want %q", tc.reason, err, tc.wrong)
			}
			if diff := cmp.Diff(tc.at, at); diff != "" {
				t.Errorf("%s: where it is written (-want +got):\n%s", tc.reason, diff)
			}
			if len(tc.at) == 0 {
				return
			}
			if diff := cmp.Diff(overrides{idA: 2}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			// What is written in that spelling is found there again, and nowhere else.
			if _, again, err := findOverrides(at.set(idB + ":1")); err != nil || !cmp.Equal(again, at) {
				t.Errorf("%s: written at %v, found at %v: %v", tc.reason, at, again, err)
			}
		})
	}
	if diff := cmp.Diff(map[string]any{overridesKey: "x"}, spelling(nil).set("x")); diff != "" {
		t.Errorf("a key that is new (-want +got):\n%s", diff)
	}
}
