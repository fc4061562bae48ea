package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"flinkscaler/core"
)

// Edit changes one key of a layer: to a value, or with nil to none of its own.
type Edit struct {
	Key   string
	Value *string
}

// Changed is a key that is not in force as it was before: its value, or the
// layer that it comes from, is another.
type Changed struct {
	Key    string `json:"key"`
	Before string `json:"before"`
	After  string `json:"after"`
	// From is the layer that the value after comes from.
	From string `json:"from"`
}

// Revision is what a layer comes to by edits, and what that does to the whole.
type Revision struct {
	// Values are those of the layer afterwards, under their canonical keys.
	Values map[string]string
	// Changes are sorted by key.
	Changes []Changed
	// Problems are those that the edits would bring: with any, nothing is to be
	// changed. Remaining are those of other layers that were there before.
	Problems, Remaining []core.Problem
}

// Bounds of a layer that is made by messages (I10).
const (
	maxEdited      = 100
	maxEditedBytes = 16 << 10
)

// Revise applies edits to the highest layer and judges all layers together. A
// key replaces, and removes, whatever spelling it had in that layer before.
func Revise(layers []Layer, edits []Edit) Revision {
	out := Revision{Values: map[string]string{}}
	for _, k := range slices.Sorted(maps.Keys(layers[0].Values)) {
		out.Values[Canonical(k)] = layers[0].Values[k]
	}
	seen := map[string]bool{}
	for _, e := range edits {
		key := Canonical(e.Key)
		_, had := out.Values[key]
		switch {
		case seen[key]:
			out.Problems = append(out.Problems, core.Problem{Path: path(e.Key), Message: "is given twice, under two of its names"})
		case e.Value != nil:
			out.Values[key] = *e.Value
		case !had && !Known(e.Key):
			out.Problems = append(out.Problems, core.Problem{Path: path(e.Key), Message: unknown(e.Key, layers[0].Name)})
		default:
			delete(out.Values, key)
		}
		seen[key] = true
	}
	out.Problems = append(out.Problems, bounded(out.Values)...)
	_, before, old := Resolve(layers)
	revised := append([]Layer{{Name: layers[0].Name, Values: out.Values}}, layers[1:]...)
	_, after, problems := Resolve(revised)
	for _, p := range problems {
		if slices.Contains(old, p) {
			out.Remaining = append(out.Remaining, p)
		} else {
			out.Problems = append(out.Problems, p)
		}
	}
	out.Changes = compare(before, after)
	return out
}

// bounded is what is wrong with the size of a layer.
func bounded(values map[string]string) []core.Problem {
	total := 0
	for _, k := range slices.Sorted(maps.Keys(values)) {
		total += len(k) + len(values[k])
	}
	switch {
	case len(values) > maxEdited:
		return []core.Problem{{Path: "policy", Message: fmt.Sprintf("would hold %d keys, at most %d are kept", len(values), maxEdited)}}
	case total > maxEditedBytes:
		return []core.Problem{{Path: "policy", Message: fmt.Sprintf("would hold %d bytes, at most %d are kept", total, maxEditedBytes)}}
	}
	return nil
}

// Canonical is the name of a key whatever spelling it is given in; a key that
// is not known stays as it is.
func Canonical(key string) string {
	if at, ok := known.spots[key]; ok {
		return known.keys[at.row]
	}
	if inFamily(key) {
		return Prefix + bare(key)
	}
	return key
}

// Known is true for a key that is recognised, parameters of plugins included.
func Known(key string) bool {
	_, ok := known.spots[key]
	return ok || inFamily(key)
}

// compare lists the keys that differ; a key without an origin has no value.
func compare(before, after []Origin) []Changed {
	was := make(map[string]Origin, len(before))
	for _, o := range before {
		was[o.Key] = o
	}
	var out []Changed
	is := make(map[string]bool, len(after))
	for _, o := range after {
		is[o.Key] = true
		if b := was[o.Key]; b.Value != o.Value || b.From != o.From {
			out = append(out, Changed{Key: o.Key, Before: b.Value, After: o.Value, From: o.From})
		}
	}
	for _, o := range before {
		if !is[o.Key] {
			out = append(out, Changed{Key: o.Key, Before: o.Value})
		}
	}
	slices.SortFunc(out, func(a, b Changed) int { return strings.Compare(a.Key, b.Key) })
	return out
}
