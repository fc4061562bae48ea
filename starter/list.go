package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"flinkscaler/core"
	"flinkscaler/starter/view"
	"flinkscaler/workflows"
)

func newList(a *app) *cobra.Command {
	var c scope
	var state string
	cmd := &cobra.Command{
		Use: "list", GroupID: groupLook, Args: noArgs, Aliases: []string{"ls"},
		Short: "List the managed jobs with their state",
		Long: `List every job that is managed now, with its state, size, load and lag, as its
worker tells. A job whose worker does not answer is shown with "no answer".`,
		Example: `  flinkscaler list
  flinkscaler list --cluster prod-eu
  flinkscaler list --state awaiting-approval
  flinkscaler list -o json | jq '.[] | select(.status.state == "blocked") | .job'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(c.check(), checkState(state)); err != nil {
				return err
			}
			return a.connected(func(ctx context.Context, s *session, _ []string) error { return s.list(ctx, c, state) })(cmd, args)
		},
	}
	c.flags(a, cmd, "list")
	cmd.Flags().StringVar(&state, "state", "", "only the jobs in this state")
	_ = cmd.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(states(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// states are those that a job's management may be in.
func states() []cobra.Completion {
	out := []cobra.Completion{noAnswer}
	for _, h := range core.Healths() {
		out = append(out, string(h))
	}
	return out
}

func checkState(state string) error {
	if state == "" || slices.Contains(states(), state) {
		return nil
	}
	return usage(fmt.Sprintf("%q is no state", state), "Known are "+strings.Join(states(), ", ")+".")
}

// listed is one row of the list, as programs get it.
type listed struct {
	ID        string    `json:"id"`
	Job       string    `json:"job"`
	RunID     string    `json:"runId"`
	TaskQueue string    `json:"taskQueue"`
	StartedAt time.Time `json:"startedAt"`
	// Status is left out when the worker did not answer; Error says why.
	Status *workflows.Status `json:"status,omitempty"`
	Error  string            `json:"error,omitempty"`
}

// state is that of the row in one word.
func (r listed) state() string {
	if r.Status == nil {
		return noAnswer
	}
	return string(r.Status.State)
}

func (s *session) list(ctx context.Context, c scope, state string) error {
	jobs, err := s.running(ctx, c)
	if err != nil {
		return err
	}
	rows := s.statuses(ctx, jobs)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if state != "" {
		rows = slices.DeleteFunc(rows, func(r listed) bool { return r.state() != state })
	}
	if s.json() {
		return s.print(rows)
	}
	switch {
	case len(jobs) == 0:
		fmt.Fprintf(s.out, "no job is managed %s; start one with: flinkscaler start\n", c.where(s.at.Namespace))
		return nil
	case len(rows) == 0:
		fmt.Fprintf(s.out, "none of %s is %s\n", plural(len(jobs), "job"), state)
		return nil
	}
	if err := s.table(rows); err != nil {
		return err
	}
	s.sayNoAnswers(rows)
	return nil
}

// statuses asks every job, and gives a row for each.
func (s *session) statuses(ctx context.Context, jobs []managed) []listed {
	rows := make([]listed, len(jobs))
	var q queues
	each(len(jobs), func(i int) {
		j := jobs[i]
		rows[i] = listed{ID: j.ID, Job: j.key.String(), RunID: j.RunID, TaskQueue: j.TaskQueue, StartedAt: j.StartedAt}
		if ctx.Err() != nil || q.skip(j.TaskQueue) {
			rows[i].Error = "not asked: no worker answers on its task queue"
			return
		}
		st, err := s.status(ctx, j.ID)
		if err == nil || errors.Is(err, errNoWorker) {
			q.note(j.TaskQueue, err == nil)
		}
		if err != nil {
			rows[i].Error = err.Error()
			return
		}
		rows[i].Status = &st
	})
	return rows
}

func (s *session) table(rows []listed) error {
	const stateColumn = 1
	p := s.colour()
	t := view.Table{Width: s.width(), Columns: []view.Column{
		{Title: "JOB"}, {Title: "STATE"}, {Title: "PARALLELISM", Align: view.Right}, {Title: "LOAD", Align: view.Right},
		{Title: "RECORDS/S", Align: view.Right}, {Title: "LAG", Align: view.Right}, {Title: "LAG TIME", Align: view.Right},
		{Title: "FOR", Align: view.Right}, {Title: "REASON"},
	}}
	t.Style = func(row, column int, text string) string {
		if column == stateColumn && rows[row].Status != nil {
			return p.State(rows[row].Status.State, text)
		}
		return text
	}
	for _, r := range rows {
		st := r.Status
		if st == nil {
			t.Row(r.Job, noAnswer, view.None, view.None, view.None, view.None, view.None, view.None, r.why())
			continue
		}
		t.Row(r.Job, string(st.State), view.Parallelism(*st), view.Reading(view.Load(*st), view.Percent), view.Reading(st.Rate, view.Count),
			view.Reading(st.Lag, view.Count), view.Reading(st.LagSeconds, view.Seconds), view.Ago(st.Since, s.now()), reasonCell(*st))
	}
	_, err := t.WriteTo(s.out)
	return err
}

const noAnswer = "no answer"

// why is the reason for a missing status, short.
func (r listed) why() string { return "task queue " + r.TaskQueue }

func reasonCell(st workflows.Status) string {
	text := string(st.Reason)
	if st.Override != nil {
		text += " (override)"
	}
	return text
}

// sayNoAnswers sums up, beside the table, the jobs without an answer.
func (s *session) sayNoAnswers(rows []listed) {
	silent := map[string]int{}
	var order []string
	for _, r := range rows {
		if r.Status == nil {
			if silent[r.TaskQueue] == 0 {
				order = append(order, r.TaskQueue)
			}
			silent[r.TaskQueue]++
		}
	}
	for _, queue := range order {
		fmt.Fprintf(s.err, "%d of %d jobs did not answer. %s\n", silent[queue], len(rows), noWorker(queue))
	}
}
