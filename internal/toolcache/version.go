package toolcache

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Version is a released version, major.minor.patch. A missing part is zero.
type Version struct {
	Major, Minor, Patch int
}

// ParseVersion reads "2", "2.3", "2.3.0" and "v2.3.0". Anything behind a dash ("-SNAPSHOT", "-DEV") is left out.
func ParseVersion(text string) (Version, error) {
	numbers, _, _ := strings.Cut(strings.TrimPrefix(text, "v"), "-")
	parts := strings.Split(numbers, ".")
	if len(parts) > 3 {
		return Version{}, fmt.Errorf("parse version %q: more than three numbers", text)
	}
	var parsed [3]int
	for i, part := range parts {
		number, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return Version{}, fmt.Errorf("parse version %q: %w", text, err)
		}
		parsed[i] = int(number)
	}
	return Version{Major: parsed[0], Minor: parsed[1], Patch: parsed[2]}, nil
}

// Compare returns a number below, at or above zero when v is older than, the same as or newer than other.
func (v Version) Compare(other Version) int {
	return cmp.Or(
		cmp.Compare(v.Major, other.Major),
		cmp.Compare(v.Minor, other.Minor),
		cmp.Compare(v.Patch, other.Patch),
	)
}

// AtLeast reports whether v is other or newer.
func (v Version) AtLeast(other Version) bool { return v.Compare(other) >= 0 }

func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// temporalGood reports whether the output of `temporal --version` shows a CLI as new as the pinned one.
//
// A CLI that was built with `go build` or `go install` calls itself 0.0.0-DEV, whatever its version. Its dev
// server's version then decides.
func temporalGood(output string) bool {
	found := regexp.MustCompile(`temporal version (\S+)(?: \(Server ([0-9.]+))?`).FindStringSubmatch(output)
	if found == nil {
		return false
	}
	wanted := Version{Major: 1, Minor: 5, Patch: 1} // TemporalVersion; a test keeps them the same
	shown := found[1]
	if strings.HasPrefix(shown, "0.0.0") {
		wanted = Version{Major: 1, Minor: 29, Patch: 1} // the server inside TemporalVersion
		shown = found[2]
	}
	version, err := ParseVersion(shown)
	return err == nil && version.AtLeast(wanted)
}
