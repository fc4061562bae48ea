package redeploy

import (
	"slices"
	"strings"

	"flinkscaler/core"
)

// Kept is the directory of one stop, and whether a complete savepoint is in it.
type Kept struct {
	core.StopDirectory
	Complete bool
}

// Surplus gives the directories that may be deleted, oldest first: those that are
// older than the newest keep with a complete savepoint in them, and that nothing
// is restored from. inUse are paths that somebody may still need, of savepoints or
// of directories that hold one. keep below 1 keeps all.
func Surplus(all []Kept, keep int, inUse []string) []string {
	if keep < 1 {
		return nil
	}
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b Kept) int {
		if c := b.At.Compare(a.At); c != 0 {
			return c
		}
		return strings.Compare(b.Path, a.Path)
	})
	var out []string
	for complete, i := 0, 0; i < len(sorted); i++ {
		d := sorted[i]
		if complete >= keep && !slices.ContainsFunc(inUse, func(p string) bool { return within(p, d.Path) || within(d.Path, p) }) {
			out = append(out, d.Path)
		}
		if d.Complete {
			complete++
		}
	}
	slices.Reverse(out)
	return out
}

// within is true for a path that is a directory, or below it. Where the spellings
// of two storages cannot be compared, the paths are: too much is kept then.
func within(p, dir string) bool {
	if p == "" || dir == "" {
		return false
	}
	p, dir = bare(p), bare(dir)
	return p == dir || strings.HasPrefix(p, strings.TrimRight(dir, "/")+"/")
}

// bare is a path without scheme and authority: a nameservice has several names.
func bare(p string) string {
	p = canonical(p)
	_, rest, _ := strings.Cut(p, "://")
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[i:]
	}
	return rest
}
