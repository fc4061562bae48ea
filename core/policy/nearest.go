package policy

import (
	"fmt"
	"slices"
	"strings"
)

// inFamily is true for keys that could be a parameter of a plugin. They are
// never unknown: only the plugin knows them.
func inFamily(k string) bool {
	return hasPrefix(k) && slices.ContainsFunc(known.families, func(f string) bool { return strings.HasPrefix(bare(k), f) })
}

// unknown says that a key is not known, and which one was perhaps meant.
func unknown(k, layer string) string {
	message := "unknown key"
	name, prefixed := bare(k), hasPrefix(k)
	best, at := nearest(name)
	within := max(3, len(name)/3)
	if !prefixed {
		message = "not a key of the autoscaler: they begin with " + Prefix
		// Without the prefix, or with one that is mistyped.
		if i := strings.Index(k, "autoscal"); i >= 0 {
			if _, rest, ok := strings.Cut(k[i:], "."); ok {
				best, at = nearest(rest)
			}
		}
		within = 2
	}
	if at <= within {
		if prefixed {
			message += ";"
		}
		message += fmt.Sprintf(" did you mean %s?", Prefix+best)
	}
	return fmt.Sprintf("%s (from %s)", message, layer)
}

// nearest finds the key, or the family of keys, whose name is nearest, and how
// far it is.
func nearest(name string) (best string, at int) {
	at = 1 << 30
	try := func(written, is, means string) {
		if d := distance(written, is); d < at {
			best, at = means, d
		}
	}
	for _, x := range known.rows {
		if !x.family {
			try(name, x.name, x.name)
			for _, o := range x.old {
				try(name, o, x.name)
			}
			continue
		}
		// Only the beginning is a word of ours.
		words := strings.SplitAfter(name, ".")
		if n := strings.Count(x.name, "."); len(words) > n {
			try(strings.Join(words[:n], ""), x.name, x.name+"<name>.<parameter>")
		}
	}
	return best, at
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
