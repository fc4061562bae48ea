package k8s

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// overridesKey is the Flink option that holds the sizes of vertices. The operator
// carries a change of it alone out in place.
const overridesKey = "pipeline.jobvertex-parallelism-overrides"

// overrides are the sizes of vertices by their id. The value of one that is
// malformed takes a job down for good, so nothing but a checked one is written.
type overrides map[string]int

// vertexForm is an id of a vertex as Flink writes it.
var vertexForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

// parseOverrides reads "id:n,id:n". Everything else is an error that says what is
// wrong.
func parseOverrides(text string) (overrides, error) {
	out := overrides{}
	if strings.TrimSpace(text) == "" {
		return out, nil
	}
	for _, entry := range strings.Split(text, ",") {
		id, size, _ := strings.Cut(strings.TrimSpace(entry), ":")
		n, err := strconv.Atoi(strings.TrimSpace(size))
		id = strings.TrimSpace(id)
		_, twice := out[id]
		switch {
		case !vertexForm.MatchString(id):
			return nil, fmt.Errorf("%q is no vertex id with a size", cut(entry))
		case err != nil || n < 1:
			return nil, fmt.Errorf("%q is no size of vertex %s", cut(size), id)
		case twice:
			return nil, fmt.Errorf("vertex %s is named twice", id)
		}
		out[id] = n
	}
	return out, nil
}

// String is "id:n,id:n" sorted by id: the operator compares texts.
func (o overrides) String() string {
	parts := make([]string, 0, len(o))
	for _, id := range slices.Sorted(maps.Keys(o)) {
		parts = append(parts, fmt.Sprintf("%s:%d", id, o[id]))
	}
	return strings.Join(parts, ",")
}

// of gives the entries of vertices that are among these.
func (o overrides) of(ids []string) overrides {
	out := overrides{}
	for _, id := range ids {
		if n, ok := o[id]; ok {
			out[id] = n
		}
	}
	return out
}

// spelling is how an object writes the key: a path of its configuration, whose
// parts joined by dots are the key. Empty where it does not.
type spelling []string

// set makes the part of a configuration that holds the value and nothing else.
func (s spelling) set(value string) map[string]any {
	path := s
	if len(path) == 0 {
		path = spelling{overridesKey}
	}
	var out any = value
	for _, part := range slices.Backward(path) {
		out = map[string]any{part: out}
	}
	return out.(map[string]any) //nolint:forcetypeassert // there is at least one part
}

// findOverrides reads the key out of a configuration, which may be nested, dotted,
// or both. An error says what is wrong with what is there.
func findOverrides(config map[string]any) (overrides, spelling, error) {
	found := spellings(config, "", nil)
	switch {
	case len(found) == 0:
		return overrides{}, nil, nil
	case len(found) > 1:
		return nil, nil, fmt.Errorf("%s is written %d times", overridesKey, len(found))
	}
	text, ok := found[0].value.(string)
	if !ok || strings.Join(found[0].path, ".") != overridesKey {
		return nil, nil, fmt.Errorf("%s is not written as one text of the form id:n,id:n", overridesKey)
	}
	o, err := parseOverrides(text)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", overridesKey, err)
	}
	return o, found[0].path, nil
}

type spelled struct {
	path  spelling
	value any
}

// spellings finds each place where a configuration has the key, or one below it,
// in order.
func spellings(config map[string]any, prefix string, path spelling) []spelled {
	var out []spelled
	for k, v := range config {
		full, here := prefix+k, append(slices.Clone(path), k)
		inner, nested := v.(map[string]any)
		switch {
		case full == overridesKey, strings.HasPrefix(full, overridesKey+"."):
			out = append(out, spelled{here, v})
		case nested && strings.HasPrefix(overridesKey, full+"."):
			out = append(out, spellings(inner, full+".", here)...)
		}
	}
	slices.SortFunc(out, func(a, b spelled) int {
		return cmp.Compare(strings.Join(a.path, "/"), strings.Join(b.path, "/"))
	})
	return out
}
