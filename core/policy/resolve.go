package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"flinkscaler/core"
)

// Resolve makes one Policy of layers, highest first. Within a layer the
// canonical spelling of a key wins over the older ones. Only the value that
// wins is judged, so that a good value above mends a bad one below; unknown
// keys are a problem in every layer. With problems the Policy holds the
// default for each bad key, and is not to be used.
func Resolve(layers []Layer) (Policy, []Origin, []core.Problem) {
	keys := 0
	for _, l := range layers {
		keys += len(l.Values)
	}
	r := resolver{draft: known.defaults, bad: map[string]bool{}, given: make(map[string]origin, keys), params: map[string]origin{}, used: map[string]bool{}}
	for i, l := range layers {
		r.take(i, l)
	}
	r.decode()
	r.finish()
	r.showParams()
	slices.SortStableFunc(r.problems, func(a, b core.Problem) int { return strings.Compare(a.Path, b.Path) })
	slices.SortStableFunc(r.origins, func(a, b Origin) int { return strings.Compare(a.Key, b.Key) })
	return r.draft.Policy, r.origins, r.problems
}

type resolver struct {
	draft    draft
	origins  []Origin
	problems []core.Problem
	// given holds, by name, the value that wins; bad the names whose value
	// could not be decoded.
	given map[string]origin
	bad   map[string]bool
	// params are keys of families without prefix, used those that a plugin of
	// the policy takes.
	params map[string]origin
	used   map[string]bool
	// shown finds the origin of a row.
	shown map[string]int
}

// origin is a value with the spelling and the layer it was found in.
type origin struct {
	value, spelling, layer string
	depth, rank            int
}

// take sorts the keys of a layer into those of the table, parameters of
// plugins, and unknown ones. Layers come highest first.
func (r *resolver) take(depth int, l Layer) {
	for _, k := range slices.Sorted(maps.Keys(l.Values)) {
		v := l.Values[k]
		at, ok := known.spots[k]
		switch {
		case ok:
			better(r.given, known.rows[at.row].name, origin{value: v, spelling: k, layer: l.Name, depth: depth, rank: at.rank})
		case inFamily(k):
			rank := 0
			if strings.HasPrefix(k, OldPrefix) {
				rank = 1
			}
			better(r.params, bare(k), origin{value: v, spelling: k, layer: l.Name, depth: depth, rank: rank})
		default:
			r.problems = append(r.problems, core.Problem{Path: path(k), Message: unknown(k, l.Name)})
		}
	}
}

// better keeps the value of the higher layer, and within a layer that of the
// better spelling, so that the order of keys does not matter.
func better(values map[string]origin, name string, g origin) {
	if old, taken := values[name]; !taken || (old.depth == g.depth && g.rank < old.rank) {
		values[name] = g
	}
}

// decode reads what is given, row by row, and shows what is in force.
func (r *resolver) decode() {
	r.shown = make(map[string]int, len(known.rows))
	r.origins = make([]Origin, 0, len(known.rows)+len(r.params))
	for i, x := range known.rows {
		g, given := r.given[x.name]
		if x.family || (x.ignored != "" && !given) {
			continue
		}
		o := Origin{Key: known.keys[i], Value: x.def, From: BuiltIn, Note: x.ignored}
		if given {
			o.Value, o.From = g.value, g.layer
			if g.spelling != o.Key {
				o.As = g.spelling
			}
			o.Note = joinNotes(o.Note, olderName(x, g))
			if g.value != x.def {
				o.Note = joinNotes(o.Note, x.differs)
			}
			r.set(x, g)
		}
		r.shown[x.name] = len(r.origins)
		r.origins = append(r.origins, o)
	}
}

func olderName(x row, g origin) string {
	if g.rank < 2 { // the two prefixes of the name itself
		return ""
	}
	return "older name of " + x.name
}

// maxValue is more than anybody writes: decisions resolve the policy each cycle.
const maxValue = 64 << 10

func (r *resolver) set(x row, g origin) {
	if x.ignored != "" {
		return
	}
	if n := len(g.value); n > maxValue {
		r.bad[x.name] = true
		r.problem(x.name, fmt.Sprintf("has %d bytes, at most %d are read", n, maxValue))
		return
	}
	if err := x.set(&r.draft, g.value); err != nil {
		r.bad[x.name] = true
		for _, text := range each(err, g.value) {
			r.problem(x.name, text)
		}
	}
}

// each says what is wrong with a value. Of a list every bad entry, which its
// error names, is a problem of its own.
func each(err error, value string) []string {
	many, ok := err.(interface{ Unwrap() []error }) //nolint:errorlint // the list itself is meant
	if !ok {
		return []string{fmt.Sprintf("%v, got %q", err, value)}
	}
	var out []string
	for _, e := range many.Unwrap() {
		out = append(out, e.Error())
	}
	return out
}

// note adds a remark to what is shown of a key.
func (r *resolver) note(name, text string) {
	if i, ok := r.shown[name]; ok {
		r.origins[i].Note = joinNotes(r.origins[i].Note, text)
	}
}

func joinNotes(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return a + "; " + b
}

// problem names the spelling and the layer that a key was found in.
func (r *resolver) problem(name, message string) {
	g, ok := r.given[name]
	if !ok {
		g.spelling = Prefix + name
	} else {
		message += fmt.Sprintf(" (from %s)", g.layer)
	}
	r.problems = append(r.problems, core.Problem{Path: path(g.spelling), Message: message})
}

func path(key string) string { return fmt.Sprintf("policy[%q]", key) }

func hasPrefix(k string) bool {
	return strings.HasPrefix(k, Prefix) || strings.HasPrefix(k, OldPrefix)
}

// bare is a key without its prefix.
func bare(k string) string {
	return strings.TrimPrefix(strings.TrimPrefix(k, "kubernetes.operator."), Prefix)
}
