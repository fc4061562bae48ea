package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"flinkscaler/core"
	"flinkscaler/core/spec"
)

// parseJob reads "cluster/job", or the whole id of a workflow.
func parseJob(text string) (core.JobKey, error) {
	parts := strings.Split(text, "/")
	if len(parts) == 3 && parts[0]+"/" == idPrefix {
		parts = parts[1:]
	}
	if len(parts) != 2 {
		return core.JobKey{}, usage(fmt.Sprintf("%q is no job", text), "Give cluster/job, such as dev/orders, or the workflow's id, such as flink/dev/orders; flinkscaler list shows them.")
	}
	raw, err := json.Marshal(map[string]string{"cluster": parts[0], "job": parts[1]})
	if err != nil {
		return core.JobKey{}, err
	}
	checked, problems := spec.Decode(raw)
	if len(problems) > 0 {
		f := usage(fmt.Sprintf("%q is no job", text), "Give cluster/job, such as dev/orders.")
		for _, p := range problems {
			f.details = append(f.details, p.String())
		}
		return core.JobKey{}, f
	}
	return checked.Key, nil
}

const idPrefix = "flink/"

// keyOf reads a workflow's id; ok is false for one that is none of ours.
func keyOf(id string) (core.JobKey, bool) {
	rest, ok := strings.CutPrefix(id, idPrefix)
	cluster, job, both := strings.Cut(rest, "/")
	if !ok || !both || cluster == "" || job == "" {
		return core.JobKey{}, false
	}
	return core.JobKey{Cluster: cluster, Job: job}, true
}

// nearest tells the jobs whose names come closest, for a mistyped one.
func (s *session) nearest(ctx context.Context, key core.JobKey) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	defer cancel()
	jobs, err := s.running(ctx, scope{all: true})
	if err != nil {
		return "Check the name with: flinkscaler list"
	}
	if len(jobs) == 0 {
		return "No job is managed here. Check the namespace, or start one with: flinkscaler start"
	}
	names := make([]string, 0, len(jobs))
	for _, j := range jobs {
		names = append(names, j.key.String())
	}
	return "Did you mean " + strings.Join(closest(key.String(), names, 3), ", ") + "? All of them: flinkscaler list"
}

// closest gives at most n of the names, nearest first: the best one, and others
// that a slip of the finger may have meant.
func closest(to string, names []string, n int) []string {
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(distance(to, a), distance(to, b)), strings.Compare(a, b))
	})
	most := max(2, len(to)/3)
	for i, name := range names {
		if i == n || (i > 0 && distance(to, name) > most) {
			return names[:i]
		}
	}
	return names
}

// distance counts the letters to insert, delete or replace to get from a to b,
// whatever their case.
func distance(a, b string) int {
	from, to := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	line := make([]int, len(to)+1)
	for j := range line {
		line[j] = j
	}
	for i, x := range from {
		diagonal := line[0]
		line[0] = i + 1
		for j, y := range to {
			change := diagonal
			if x != y {
				change++
			}
			diagonal = line[j+1]
			line[j+1] = min(change, line[j+1]+1, line[j]+1)
		}
	}
	return line[len(to)]
}
