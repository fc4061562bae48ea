package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"flinkscaler/core"
	"flinkscaler/core/spec"
)

func newStop(a *app) *cobra.Command {
	var yes bool
	cmd := a.jobCommand(&cobra.Command{
		Use: "stop JOB", GroupID: groupManage, Short: "Stop managing a job, and leave it as it is",
		Long: `Stop managing a job. The Flink job itself goes on at its present size; nothing
changes it any more. A rescale that is under way first runs to its outcome.`,
		Example: `  flinkscaler stop dev/orders
  flinkscaler stop dev/orders --yes`,
	}, func(s *session, ctx context.Context, key core.JobKey) error { return s.stop(ctx, key, yes) })
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func (s *session) stop(ctx context.Context, key core.JobKey, yes bool) error {
	e, err := s.describe(ctx, key)
	if err != nil {
		return err
	}
	if !e.running() {
		return s.explain(ctx, key, e, errEnded)
	}
	if !yes {
		question := fmt.Sprintf("Stop managing %s? The job goes on at its present size; nothing scales it any more.", key)
		if err := s.confirm("stop", question, "not stopped"); err != nil {
			return err
		}
	}
	callCtx, cancel := s.bounded(ctx)
	defer cancel()
	if err := s.srv.Cancel(callCtx, e.ID); err != nil {
		return s.explain(ctx, key, e, err)
	}
	return s.sayStopped(key, s.awaitEnd(callCtx, key))
}

// confirm asks; without a person at the terminal nobody can answer. no is what
// is said to a no.
func (s *session) confirm(verb, question, no string) error {
	if !s.inTerminal {
		return usage(verb+" asks before it acts, and there is no terminal to ask on", "Give --yes.")
	}
	fmt.Fprint(s.err, question+" [y/N] ")
	line, err := bufio.NewReader(s.in).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		f := failed(no, "")
		f.cause = err
		return f
	}
	return nil
}

// awaitEnd waits a while for the workflow to end.
func (s *session) awaitEnd(ctx context.Context, key core.JobKey) (ended bool) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		if e, err := s.srv.Describe(ctx, spec.ID(key)); err == nil && !e.running() {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
}

func (s *session) sayStopped(key core.JobKey, ended bool) error {
	result, text := "stopped", "is no longer managed; the job is left as it is"
	if !ended {
		result, text = "stopping", "will stop: the order is with the server. It has not ended yet, because a rescale is under way or no worker runs"
	}
	if s.json() {
		return s.print(map[string]string{"job": key.String(), "result": result})
	}
	fmt.Fprintf(s.out, "%s %s\n", key, text)
	return nil
}
