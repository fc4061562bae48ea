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
	r := resolver{bad: map[string]bool{}, used: map[string]string{}}
	for _, x := range table() {
		if x.family {
			continue
		}
		r.take(x, layers)
	}
	r.takeOthers(layers)
	r.finish()
	slices.SortStableFunc(r.problems, func(a, b core.Problem) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(r.origins, func(a, b Origin) int { return strings.Compare(a.Key, b.Key) })
	return r.draft.Policy, r.origins, r.problems
}

type resolver struct {
	draft    draft
	origins  []Origin
	problems []core.Problem
	// bad holds names that could not be decoded, used the spelling found.
	bad  map[string]bool
	used map[string]string
}

// take finds the value of one key and decodes it.
func (r *resolver) take(x row, layers []Layer) {
	o := Origin{Key: x.key(), Value: x.def, From: BuiltIn}
	for _, l := range layers {
		if spelling, ok := firstSpelling(x, l.Values); ok {
			o.Value, o.From, o.As = l.Values[spelling], l.Name, spelling
			break
		}
	}
	given := o.As != ""
	if given {
		r.used[x.name] = o.As
	}
	if o.As == o.Key {
		o.As = ""
	}
	o.Note = x.ignored
	if x.ignored == "" {
		r.decode(x, o, given)
	}
	if given || x.ignored == "" {
		r.origins = append(r.origins, o)
	}
}

func firstSpelling(x row, values map[string]string) (string, bool) {
	for _, s := range x.spellings() {
		if _, ok := values[s]; ok {
			return s, true
		}
	}
	return "", false
}

func (r *resolver) decode(x row, o Origin, given bool) {
	if given {
		err := x.set(&r.draft, o.Value)
		if err == nil {
			return
		}
		r.bad[x.name] = true
		r.problem(x.name, fmt.Sprintf("%v, got %q (from %s)", err, o.Value, o.From))
	}
	if x.def == "" {
		return
	}
	if err := x.set(&r.draft, x.def); err != nil {
		r.problem(x.name, fmt.Sprintf("built-in default %q: %v", x.def, err))
	}
}

// takeOthers looks at the keys that the table does not list by name.
func (r *resolver) takeOthers(layers []Layer) {
	known, families := map[string]bool{}, []row{}
	for _, x := range table() {
		if x.family {
			families = append(families, x)
			continue
		}
		for _, s := range x.spellings() {
			known[s] = true
		}
	}
	for _, l := range layers {
		for _, k := range slices.Sorted(maps.Keys(l.Values)) {
			switch {
			case known[k]:
			case inFamily(k, families):
				r.origins = append(r.origins, Origin{Key: k, Value: l.Values[k], From: l.Name, Note: notBuilt})
			default:
				r.problems = append(r.problems, core.Problem{Path: path(k), Message: unknown(k, l.Name)})
			}
		}
	}
}

// finish derives what depends on more than one key, and checks it.
func (r *resolver) finish() {
	d := &r.draft
	d.UtilizationMax, d.UtilizationMin = d.UtilizationTarget+d.boundary, d.UtilizationTarget-d.boundary
	if d.max != nil {
		d.UtilizationMax = *d.max
		r.rule(*d.max >= d.UtilizationTarget, "utilization.max", "utilization.target",
			fmt.Sprintf("must be between utilization.target (%g) and 1, got %g", d.UtilizationTarget, *d.max))
	}
	if d.min != nil {
		d.UtilizationMin = *d.min
		r.rule(*d.min <= d.UtilizationTarget, "utilization.min", "utilization.target",
			fmt.Sprintf("must be between 0 and utilization.target (%g), got %g", d.UtilizationTarget, *d.min))
	}
	r.rule(d.MetricsWindow >= d.Interval, "metrics.window", "interval",
		fmt.Sprintf("must be at least %sinterval (%s), got %s", Prefix, FormatDuration(d.Interval), FormatDuration(d.MetricsWindow)))
	r.rule(d.MinParallelism <= d.MaxParallelism, "vertex.min-parallelism", "vertex.max-parallelism",
		fmt.Sprintf("must be at most vertex.max-parallelism (%d), got %d", d.MaxParallelism, d.MinParallelism))
	r.noteDerived()
}

// noteDerived shows the bounds that come out of target and boundary.
func (r *resolver) noteDerived() {
	d := r.draft
	for i := range r.origins {
		o := &r.origins[i]
		switch o.Key {
		case Prefix + "utilization.max":
			if d.max == nil {
				o.Value = fmt.Sprintf("%g", core.Round3(d.UtilizationMax))
				o.Note = "target + boundary"
			}
			if d.UtilizationMax > 1 {
				o.Note = joinNotes(o.Note, "above 1 counts as 1")
			}
		case Prefix + "utilization.min":
			if d.min == nil {
				o.Value = fmt.Sprintf("%g", core.Round3(d.UtilizationMin))
				o.Note = "target - boundary"
			}
			if d.NeverDown() {
				o.Note = joinNotes(o.Note, "0 or below: never scales down")
			}
		}
	}
}

func joinNotes(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// rule reports a contradiction between two keys, unless one of them could not
// even be read.
func (r *resolver) rule(holds bool, name, other, message string) {
	if !holds && !r.bad[name] && !r.bad[other] {
		r.problem(name, message)
	}
}

func (r *resolver) problem(name, message string) {
	spelling := r.used[name]
	if spelling == "" {
		spelling = Prefix + name
	}
	r.problems = append(r.problems, core.Problem{Path: path(spelling), Message: message})
}

func path(key string) string { return fmt.Sprintf("policy[%q]", key) }

func hasPrefix(k string) bool {
	return strings.HasPrefix(k, Prefix) || strings.HasPrefix(k, OldPrefix)
}

// bare is a key without its prefix.
func bare(k string) string {
	return strings.TrimPrefix(strings.TrimPrefix(k, "kubernetes.operator."), Prefix)
}

func inFamily(k string, families []row) bool {
	return hasPrefix(k) && slices.ContainsFunc(families, func(f row) bool { return strings.HasPrefix(bare(k), f.name) })
}

func unknown(k, layer string) string {
	if !hasPrefix(k) {
		return fmt.Sprintf("not a key of the autoscaler: they begin with %s (from %s)", Prefix, layer)
	}
	name, best, at := bare(k), "", 1<<30
	for _, x := range table() {
		if d := distance(name, x.name); d < at {
			best, at = x.name, d
		}
	}
	if at <= max(3, len(name)/3) {
		return fmt.Sprintf("unknown key; did you mean %s? (from %s)", Prefix+best, layer)
	}
	return fmt.Sprintf("unknown key (from %s)", layer)
}

// distance counts the letters to insert, delete or replace to get from a to b.
func distance(a, b string) int {
	line := make([]int, len(b)+1)
	for j := range line {
		line[j] = j
	}
	for i := range len(a) {
		before := line[0]
		line[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = line[j+1]
			line[j+1] = min(cost, line[j+1]+1, line[j]+1)
		}
	}
	return line[len(b)]
}
