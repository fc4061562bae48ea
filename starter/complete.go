package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"flinkscaler/core/policy"
	"flinkscaler/core/spec"
	"flinkscaler/workflows"
)

const completeTimeout = 2 * time.Second

// completeJobs offers the running jobs for the first argument.
func (a *app) completeJobs(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.complete(cmd, func(j managed) string { return j.key.String() })
}

// completeClusters offers the clusters of the running jobs.
func (a *app) completeClusters(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.complete(cmd, func(j managed) string { return j.key.Cluster })
}

func (a *app) complete(cmd *cobra.Command, word func(managed) string) ([]cobra.Completion, cobra.ShellCompDirective) {
	jobs := a.jobsToComplete(cmd)
	var out []cobra.Completion
	seen := map[string]bool{}
	for _, j := range jobs {
		if w := word(j); !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// jobsToComplete is quiet and quick: a shell waits for it.
func (a *app) jobsToComplete(cmd *cobra.Command) []managed {
	a.timeout = completeTimeout
	ctx, cancel := context.WithTimeout(contextOf(cmd), completeTimeout)
	defer cancel()
	s, err := a.connect(ctx)
	if err != nil {
		return nil
	}
	defer s.srv.Close()
	jobs, err := s.running(ctx, scope{all: true})
	if err != nil {
		return nil
	}
	return jobs
}

// completeVertices offers "NAME=" for the vertices of the job.
func (a *app) completeVertices(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	none := cobra.ShellCompDirectiveNoFileComp
	if strings.Contains(begun, "=") {
		return nil, none
	}
	st, ok := a.statusToComplete(cmd, args)
	if !ok {
		return nil, none
	}
	var out []cobra.Completion
	for _, v := range st.Vertices {
		out = append(out, v.Name+"=")
	}
	return out, none | cobra.ShellCompDirectiveNoSpace
}

// completeKeys offers "key=" for all policy keys, without their prefix.
func completeKeys(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	none := cobra.ShellCompDirectiveNoFileComp
	if strings.Contains(begun, "=") {
		return nil, none
	}
	var out []cobra.Completion
	for _, k := range policy.Keys() {
		if k.Ignored == "" && !strings.HasSuffix(k.Key, "...") {
			out = append(out, strings.TrimPrefix(k.Key, policy.Prefix)+"=")
		}
	}
	return out, none | cobra.ShellCompDirectiveNoSpace
}

// completeProposals offers the jobs, then the proposals that can be answered.
func (a *app) completeProposals(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return a.completeJobs(cmd, args, begun)
	}
	st, ok := a.statusToComplete(cmd, args)
	if !ok || len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	if p := st.Proposal; p != nil {
		out = append(out, p.ID)
	}
	if p := st.Approval; p != nil && cmd.Name() == workflows.MsgReject {
		out = append(out, p.Proposal.ID)
	}
	if cmd.Name() == workflows.MsgApprove {
		for _, r := range st.Rejections {
			out = append(out, r.Proposal.ID)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeSetKeys offers the keys that were set by message.
func (a *app) completeSetKeys(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	none := cobra.ShellCompDirectiveNoFileComp
	st, ok := a.statusToComplete(cmd, args)
	if !ok {
		return nil, none
	}
	var out []cobra.Completion
	for _, k := range st.Set {
		out = append(out, strings.TrimPrefix(k.Key, policy.Prefix))
	}
	return out, none
}

// statusToComplete asks the job of the command line, quickly.
func (a *app) statusToComplete(cmd *cobra.Command, args []string) (workflows.Status, bool) {
	if len(args) == 0 {
		return workflows.Status{}, false
	}
	key, err := parseJob(args[0])
	if err != nil {
		return workflows.Status{}, false
	}
	a.timeout = completeTimeout
	ctx := contextOf(cmd)
	s, err := a.connect(ctx)
	if err != nil {
		return workflows.Status{}, false
	}
	defer s.srv.Close()
	st, err := s.status(ctx, spec.ID(key))
	return st, err == nil
}

func contextOf(cmd *cobra.Command) context.Context {
	if ctx := cmd.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}
