package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"

	"flinkscaler/adapters/k8s"
	"flinkscaler/core"
)

// maxName is how long a job's name in an input may be.
const maxName = 128

// unusual is what a job's name in an input may not have.
var unusual = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// jobNames names jobs after their objects, namespace.name, and jobs on session
// clusters after their name in Flink, too. No two are alike: what would be, or had
// to be shortened or spelt otherwise, gets a mark made from its target, so that the
// same job has the same name at each look. Of one name in a namespace the
// FlinkDeployment keeps it.
func jobNames(found []k8s.Found) []string {
	order := make([]int, len(found))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(found[a].Target), rank(found[b].Target)) })
	out, taken := make([]string, len(found)), map[string]bool{}
	for _, i := range order {
		name, plain := plainName(found[i].Target)
		if !plain || taken[name] {
			name = marked(name, found[i].Target)
		}
		out[i], taken[name] = name, true
	}
	return out
}

// rank says who keeps a name: the lower.
func rank(t core.KubernetesTarget) int {
	switch {
	case t.JobName != "":
		return 3
	case t.Kind == core.KindFlinkDeployment:
		return 0
	case t.Kind == core.KindFlinkSessionJob:
		return 1
	}
	return 2
}

// plainName is the name as it is; plain is false where that is not allowed.
func plainName(t core.KubernetesTarget) (name string, plain bool) {
	name = t.Namespace + "." + t.Name
	if t.JobName != "" {
		name += "." + t.JobName
	}
	spelt := unusual.ReplaceAllString(name, "-")
	return spelt, spelt == name && len(name) <= maxName
}

// marked shortens a name and adds the mark of its target.
func marked(name string, t core.KubernetesTarget) string {
	const size = 4
	sum := sha256.Sum256([]byte(core.Target{Kubernetes: &t}.Canonical()))
	mark := "-" + hex.EncodeToString(sum[:size])
	return name[:min(len(name), maxName-len(mark))] + mark
}
