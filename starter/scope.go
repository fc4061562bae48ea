package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"flinkscaler/core"
	"flinkscaler/core/spec"
	"flinkscaler/workflows"
)

// scope says which of the running jobs are meant: those of one cluster, or all.
type scope struct {
	cluster string
	all     bool
}

// flags registers --cluster and --all.
func (c *scope) flags(a *app, cmd *cobra.Command, verb string) {
	cmd.Flags().StringVar(&c.cluster, "cluster", "", verb+" every job of this cluster")
	cmd.Flags().BoolVar(&c.all, "all", false, verb+" every job of the namespace")
	_ = cmd.RegisterFlagCompletionFunc("cluster", a.completeClusters)
}

func (c scope) given() bool { return c.all || c.cluster != "" }

// check refuses a scope that means nothing, or two things.
func (c scope) check() error {
	if c.all && c.cluster != "" {
		return usage("give either --cluster or --all, one of them", "")
	}
	if c.cluster == "" {
		return nil
	}
	raw, err := json.Marshal(map[string]string{"cluster": c.cluster, "job": "any"})
	if err != nil {
		return err
	}
	if _, problems := spec.Decode(raw); len(problems) > 0 {
		f := usage(fmt.Sprintf("%q is no cluster", c.cluster), "Give the cluster's name as in the workflows' ids: flink/CLUSTER/JOB.")
		for _, p := range problems {
			f.details = append(f.details, p.String())
		}
		return f
	}
	return nil
}

// query finds the running jobs of the scope. It needs no search attributes of
// ours: the cluster is part of the workflow's id.
func (c scope) query() string {
	q := fmt.Sprintf("WorkflowType=%q AND ExecutionStatus=%q", workflows.ScaleName, statusRunning)
	if c.cluster != "" {
		q += fmt.Sprintf(" AND WorkflowId STARTS_WITH %q", spec.ID(core.JobKey{Cluster: c.cluster}))
	}
	return q
}

// where is the scope in words.
func (c scope) where(namespace string) string {
	if c.cluster != "" {
		return "on cluster " + c.cluster + " in namespace " + namespace
	}
	return "in namespace " + namespace
}

// managed is a running workflow with its job.
type managed struct {
	execution

	key core.JobKey
}

// running lists the jobs of a scope that run, sorted. A job that continues as
// new while pages are read may be on two of them or on none: more than one page
// is read twice.
func (s *session) running(ctx context.Context, c scope) ([]managed, error) {
	out, pages, err := s.pass(ctx, c)
	if err == nil && pages > 1 {
		var again []managed
		again, _, err = s.pass(ctx, c)
		out = append(out, again...)
	}
	if err != nil {
		return nil, s.serverError(err)
	}
	slices.SortStableFunc(out, func(a, b managed) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(out, func(a, b managed) bool { return a.ID == b.ID }), nil
}

// pass reads page after page; each may take the time of one call.
func (s *session) pass(ctx context.Context, c scope) (out []managed, pages int, err error) {
	var next []byte
	for {
		found, more, err := s.page(ctx, c.query(), next)
		if err != nil {
			return nil, pages, err
		}
		for _, e := range found {
			key, ok := keyOf(e.ID)
			if ok && (c.cluster == "" || key.Cluster == c.cluster) {
				out = append(out, managed{e, key})
			}
		}
		pages++
		if next = more; len(next) == 0 {
			return out, pages, nil
		}
	}
}

func (s *session) page(ctx context.Context, query string, next []byte) ([]execution, []byte, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	return s.srv.List(ctx, query, next)
}

// clusters counts the jobs of each cluster: "dev 3, prod-eu 42".
func clusters(jobs []managed) string {
	var parts []string
	for i := 0; i < len(jobs); {
		n := i
		for n < len(jobs) && jobs[n].key.Cluster == jobs[i].key.Cluster {
			n++
		}
		parts = append(parts, fmt.Sprintf("%s %d", jobs[i].key.Cluster, n-i))
		i = n
	}
	return strings.Join(parts, ", ")
}
