package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/starter/view"
	"flinkscaler/workflows"
)

func newStatus(a *app) *cobra.Command {
	return a.jobCommand(&cobra.Command{
		Use: "status JOB", GroupID: groupLook, Short: "Show what is done with a job now, and why",
		Long: `Show the state of a job's management: the last decision with its reason, every
vertex with its load, what it has to do and what it could do, the orders in
force, the last rescale, and when the next evaluation is.`,
		Example: `  flinkscaler status dev/orders
  flinkscaler status flink/dev/orders -o json`,
	}, (*session).showStatus)
}

func newExplain(a *app) *cobra.Command {
	return a.jobCommand(&cobra.Command{
		Use: "explain JOB", GroupID: groupLook, Short: "Show the last decision with its arithmetic",
		Long:    "Show how the last decision came about: every number, every limit that it hit, for every vertex.",
		Example: "  flinkscaler explain dev/orders",
	}, (*session).showExplain)
}

func newHistory(a *app) *cobra.Command {
	return a.jobCommand(&cobra.Command{
		Use: "history JOB", GroupID: groupLook, Short: "Show past decisions, orders and rescales",
		Long: `Show past decisions, a row of equal ones as one line, what people ordered and how
that ended, and past rescales with their outcome; oldest first.`,
		Example: "  flinkscaler history dev/orders\n  flinkscaler history dev/orders -o json | jq .rescales",
	}, (*session).showHistory)
}

// jobCommand completes a command that takes one job.
func (a *app) jobCommand(cmd *cobra.Command, f func(*session, context.Context, core.JobKey) error) *cobra.Command {
	cmd.Args, cmd.ValidArgsFunction = oneJob, a.completeJobs
	cmd.RunE = a.job(func(ctx context.Context, s *session, key core.JobKey) error { return f(s, ctx, key) })
	return cmd
}

func (s *session) showStatus(ctx context.Context, key core.JobKey) error {
	var st workflows.Status
	e, err := s.ask(ctx, key, workflows.QueryStatus, &st)
	if err != nil {
		return err
	}
	if !e.running() && st.Cycle == 0 {
		return s.neverBegan(ctx, key, e)
	}
	s.sayEnded(ctx, e)
	p := s.progress(ctx, st)
	if s.json() {
		return s.print(watched{st, p})
	}
	return view.Frame{Now: s.now(), Width: s.width(), Colour: s.colour(), Rescale: p}.Render(s.out, st)
}

// sayEnded warns that what is shown is what a workflow last knew.
func (s *session) sayEnded(ctx context.Context, e execution) {
	if e.running() {
		return
	}
	fmt.Fprintf(s.err, "this workflow does not run any more (%s); what follows is what it last knew\n", s.end(ctx, e))
}

// end says how and when a workflow ended.
func (s *session) end(ctx context.Context, e execution) string {
	text := fmt.Sprintf("%s %s ago", strings.ToLower(e.Status), view.Ago(e.ClosedAt, s.now()))
	if e.Status != statusFailed {
		return text
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if why, err := s.srv.Outcome(ctx, e.ID, e.RunID); err == nil && why != "" {
		text += ": " + why
	}
	return text
}

// neverBegan is about a workflow that ended before its first evaluation,
// mostly because its input was refused.
func (s *session) neverBegan(ctx context.Context, key core.JobKey, e execution) error {
	return failed(fmt.Sprintf("%s is not managed: its workflow ended before it began (%s)", key, s.end(ctx, e)),
		"Correct the input, and start it again with: flinkscaler start")
}

func (s *session) showExplain(ctx context.Context, key core.JobKey) error {
	var lines []string
	e, err := s.ask(ctx, key, workflows.QueryExplain, &lines)
	if err != nil {
		return err
	}
	s.sayEnded(ctx, e)
	if s.json() {
		return s.print(lines)
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(s.out, view.Printable(line)); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) showHistory(ctx context.Context, key core.JobKey) error {
	var h workflows.History
	e, err := s.ask(ctx, key, workflows.QueryHistory, &h)
	if err != nil {
		return err
	}
	s.sayEnded(ctx, e)
	if s.json() {
		return s.print(h)
	}
	// The names of the vertices are in the status; without it ids must do.
	st, err := s.status(ctx, e.ID)
	if err != nil {
		st = workflows.Status{}
	}
	return s.historyTables(h, st)
}

func (s *session) historyTables(h workflows.History, st workflows.Status) error {
	if len(h.Decisions) == 0 {
		fmt.Fprintln(s.out, "nothing is decided yet")
		return nil
	}
	decisions := view.Table{Width: s.width(), Columns: []view.Column{
		{Title: "DECIDED"}, {Title: "TIMES", Align: view.Right}, {Title: "UNTIL"}, {Title: "VERDICT"}, {Title: "REASON"}, {Title: "NOTE"},
	}}
	for _, d := range h.Decisions {
		last := ""
		if d.Count > 1 {
			last = view.Clock(d.LastAt)
		}
		decisions.Row(view.Clock(d.At), fmt.Sprint(d.Count), last, string(d.Verdict), string(d.Reason), d.Note)
	}
	if _, err := decisions.WriteTo(s.out); err != nil {
		return err
	}
	if err := s.orderTable(h.Orders); err != nil {
		return err
	}
	if len(h.Rescales) == 0 {
		fmt.Fprintln(s.out, "\nno rescale yet")
		return nil
	}
	fmt.Fprintln(s.out)
	rescales := view.Table{Width: s.width(), Columns: []view.Column{
		{Title: "RESCALE"}, {Title: "NO", Align: view.Right}, {Title: "OUTCOME"}, {Title: "TOOK", Align: view.Right},
		{Title: "DOWN", Align: view.Right}, {Title: "CHANGES"}, {Title: "NOTE"},
	}}
	for _, o := range h.Rescales {
		down := view.None
		if !o.WrittenAt.IsZero() && o.RunningAt.After(o.WrittenAt) {
			down = view.Duration(o.RunningAt.Sub(o.WrittenAt))
		}
		rescales.Row(view.Clock(o.StartedAt), fmt.Sprint(o.Attempt), string(o.Kind), view.Duration(o.EndedAt.Sub(o.StartedAt)), down,
			view.Changes(o, st.Vertices), o.Note)
	}
	_, err := rescales.WriteTo(s.out)
	return err
}

// orderTable shows what people ordered; nothing where nobody did.
func (s *session) orderTable(orders []workflows.Order) error {
	if len(orders) == 0 {
		return nil
	}
	fmt.Fprintln(s.out)
	t := view.Table{Width: s.width(), Columns: []view.Column{
		{Title: "ORDERED"}, {Title: "MESSAGE"}, {Title: "BY"}, {Title: "UNTIL"}, {Title: "ENDED"}, {Title: "WHAT"},
	}}
	for _, o := range orders {
		until, ended, what := "", "in force", o.Did
		if !o.Until.IsZero() {
			until = view.Clock(o.Until)
		}
		if o.Ended != "" {
			ended = o.Ended
		}
		if o.Reason != "" {
			what += " (" + o.Reason + ")"
		}
		t.Row(view.Clock(o.At), o.Message, o.By, until, ended, what)
	}
	_, err := t.WriteTo(s.out)
	return err
}

func (s *session) showPolicy(ctx context.Context, key core.JobKey, changed bool) error {
	var p workflows.Policy
	e, err := s.ask(ctx, key, workflows.QueryPolicy, &p)
	if err != nil {
		return err
	}
	s.sayEnded(ctx, e)
	if changed {
		p.Keys = slices.DeleteFunc(p.Keys, func(o policy.Origin) bool { return o.From == policy.BuiltIn })
	}
	if s.json() {
		return s.print(p)
	}
	if err := s.policyTable(p.Keys); err != nil {
		return err
	}
	for _, problem := range p.Problems {
		fmt.Fprintln(s.out, "problem: "+view.Clean(problem.String()))
	}
	return nil
}
