package flags

import (
	"fmt"
	"strings"

	"flinkscaler/core/policy"
)

// Policy reads what --policy was given, KEY=VALUE each, and says what cannot be
// read. The values are for others to judge.
func Policy(pairs []string) (keys map[string]string, problems []string) {
	keys = map[string]string{}
	for _, kv := range pairs {
		k, v, ok := strings.Cut(kv, "=")
		k = FullKey(strings.TrimSpace(k))
		_, twice := keys[k]
		switch {
		case !ok:
			problems = append(problems, fmt.Sprintf("--policy %q: must be key=value", kv))
		case twice:
			problems = append(problems, fmt.Sprintf("--policy %q: is given twice", kv))
		default:
			keys[k] = strings.TrimSpace(v)
		}
	}
	return keys, problems
}

// FullKey lets the prefix of the policy's keys be left out.
func FullKey(k string) string {
	if strings.HasPrefix(k, policy.Prefix) || strings.HasPrefix(k, policy.OldPrefix) {
		return k
	}
	return policy.Prefix + k
}
