package kubesim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// parseOverrides reads id:n,id:n. It is as strict as Flink: one number that is
// none spoils the whole.
func parseOverrides(text string) (map[string]int, error) {
	out := map[string]int{}
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		id, value, found := strings.Cut(pair, ":")
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if !found || err != nil {
			return nil, fmt.Errorf("could not parse value '%s' for key '%s'", text, keyOverrides)
		}
		out[strings.TrimSpace(id)] = n
	}
	return out, nil
}

// formatOverrides writes id:n,id:n, sorted.
func formatOverrides(m map[string]int) string {
	parts := make([]string, 0, len(m))
	for _, id := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, id+":"+strconv.Itoa(m[id]))
	}
	return strings.Join(parts, ",")
}
