package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"

	"flinkscaler/core"
)

// maxName is how long a job's name in an input may be.
const maxName = 128

// unusual is what a job's name in an input may not have.
var unusual = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// jobNames gives jobs their names. No two are alike: what would be, or had to be
// shortened or spelt otherwise, gets a mark made from its target, so that the same job
// has the same name at each look.
func jobNames(found []shown) []string {
	order := make([]int, len(found))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(found[a].rank, found[b].rank) })
	out, taken := make([]string, len(found)), map[string]bool{}
	for _, i := range order {
		name, plain := plainName(found[i].name)
		if !plain || taken[name] {
			name = marked(name, found[i].target)
		}
		out[i], taken[name] = name, true
	}
	return out
}

// plainName is the name as it is; plain is false where that is not allowed.
func plainName(name string) (spelt string, plain bool) {
	spelt = unusual.ReplaceAllString(name, "-")
	return spelt, spelt == name && len(name) <= maxName
}

// marked shortens a name and adds the mark of its target.
func marked(name string, t core.Target) string {
	const size = 4
	sum := sha256.Sum256([]byte(t.Canonical()))
	mark := "-" + hex.EncodeToString(sum[:size])
	return name[:min(len(name), maxName-len(mark))] + mark
}
