package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The families of keys that hold the parameters of plugins.
const (
	evaluatorFamily = "metrics.custom-evaluator."
	executorFamily  = "scaling.custom-executor."
	alignmentFamily = "scaling.parallelism-alignment.mode."
)

// plugin makes the plugin of a name out of a family's parameters. Without a
// class there is none.
func (r *resolver) plugin(family, name string) (Plugin, bool) {
	p := Plugin{Name: name}
	begin := family + name + "."
	for _, k := range slices.Sorted(maps.Keys(r.params)) {
		key, ok := strings.CutPrefix(k, begin)
		if !ok || key == "" {
			continue
		}
		r.used[k] = true
		p.Params = append(p.Params, Param{Key: key, Value: r.params[k].value})
		if key == "class" {
			p.Class = strings.TrimSpace(r.params[k].value)
		}
	}
	return p, p.Class != ""
}

// listed makes the plugins whose names a key lists, each once and in order.
func (r *resolver) listed(key, family string, names []string) []Plugin {
	var out []Plugin
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			continue
		}
		seen[name] = true
		p, ok := r.plugin(family, name)
		if !ok {
			r.problem(key, fmt.Sprintf("%q has no class: give %s", name, Prefix+family+name+".class"))
			continue
		}
		out = append(out, p)
	}
	return out
}

// plugins makes the evaluator and the executors.
func (r *resolver) plugins() {
	d := &r.draft
	if len(d.evaluators) > 0 {
		if made := r.listed("metrics.custom-evaluators", evaluatorFamily, d.evaluators[:1]); len(made) > 0 {
			d.Evaluator = &made[0]
		}
	}
	if len(d.evaluators) > 1 {
		r.note("metrics.custom-evaluators", fmt.Sprintf("only the first is used: %s", d.evaluators[0]))
	}
	d.Executors = r.listed("scaling.custom-executors", executorFamily, d.executors)
}

// align finds the alignment: the newer key if anybody gave it, else the older
// one, else what is built in.
func (r *resolver) align() {
	const key, older = "scaling.parallelism-alignment.mode", "scaling.key-group.partitions.adjust.mode"
	d := &r.draft
	d.Alignment = AlignBalanced
	_, given := r.given[key]
	if _, old := r.given[older]; old && !r.bad[older] {
		if !given {
			d.Alignment = d.adjust
			r.note(key, "not in force: "+older+" is given")
			return
		}
		r.note(older, "no effect: "+key+" is given")
	}
	for _, m := range builtInAlignments() {
		if d.mode == string(m) {
			d.Alignment = m
			return
		}
	}
	p, ok := r.plugin(alignmentFamily, d.mode)
	if !ok || d.mode == "" {
		r.problem(key, fmt.Sprintf("must be one of %s, got %q", strings.Join(r.alignments(), ", "), d.mode))
		return
	}
	d.Alignment, d.AlignmentPlugin = AlignCustom, &p
}

func builtInAlignments() []Alignment {
	return []Alignment{AlignBalanced, AlignEvenlySpread, AlignOff}
}

// alignments are the modes that could be named: those built in, and those that
// a class is given for.
func (r *resolver) alignments() []string {
	var out []string
	for _, m := range builtInAlignments() {
		out = append(out, string(m))
	}
	for _, k := range slices.Sorted(maps.Keys(r.params)) {
		if rest, ok := strings.CutPrefix(k, alignmentFamily); ok {
			if name, ok := strings.CutSuffix(rest, ".class"); ok && name != "" {
				out = append(out, name)
			}
		}
	}
	return out
}

// showParams gives every parameter an origin.
func (r *resolver) showParams() {
	for _, k := range slices.Sorted(maps.Keys(r.params)) {
		p := r.params[k]
		o := Origin{Key: Prefix + k, Value: p.value, From: p.layer, As: p.spelling}
		if o.As == o.Key {
			o.As = ""
		}
		if !r.used[k] {
			o.Note = "no effect: no plugin of this name is in use"
		}
		r.origins = append(r.origins, o)
	}
}
