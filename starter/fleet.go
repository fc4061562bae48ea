package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"flinkscaler/starter/view"
)

// fleetLong is what the help of an order to many jobs says of them.
const fleetLong = `
--cluster and --all give the order to every job that runs then: their number is
shown and asked about first, --yes does not ask, and --dry-run only shows them.
Each job answers for itself; with one that did not take the order the exit code
is 1. Given again with the same --id it has one effect per job.`

// fleet is an order to many jobs.
type fleet struct {
	scope

	yes, dryRun bool
}

// fleetCommand completes the command of an order for one job or for many.
func (a *app) fleetCommand(name string, cmd *cobra.Command) *cobra.Command {
	f := a.orderFlags(name, cmd)
	var many fleet
	many.flags(a, cmd, name)
	cmd.Flags().BoolVarP(&many.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&many.dryRun, "dry-run", false, "show the jobs, and do nothing")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case many.given() && len(args) > 0:
			return usage(fmt.Sprintf("%s takes either a job or one of --cluster and --all", name), "Usage: flinkscaler "+cmd.Use)
		case !many.given() && (many.yes || many.dryRun) && len(args) == 1:
			return usage("--yes and --dry-run are for many jobs: one is not asked about", "")
		case many.given():
			return many.check()
		}
		if len(args) == 1 {
			return nil
		}
		return usage(fmt.Sprintf("%s takes one job, or --cluster or --all, got %d arguments", name, len(args)), "Usage: flinkscaler "+cmd.Use)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !many.given() {
			return a.giveOne(name, f, cmd, args)
		}
		payload, err := f.payload(name, false)
		if err != nil {
			return err
		}
		return a.connected(func(ctx context.Context, s *session, _ []string) error {
			return s.giveMany(ctx, many, order{Name: name, ID: f.id, Payload: payload}, f.signal)
		})(cmd, args)
	}
	return cmd
}

// What became of the order for one job.
const (
	resultDone    = "done"
	resultSent    = "sent"
	resultEnded   = "ended"
	resultUnasked = "not-asked"
)

// given is that, as programs get it.
type given struct {
	ID     string `json:"id"`
	Job    string `json:"job"`
	Result string `json:"result"`
	Note   string `json:"note,omitempty"`
}

// giveMany gives an order to every job of a scope, after it was asked about.
func (s *session) giveMany(ctx context.Context, many fleet, o order, signal bool) error {
	jobs, err := s.running(ctx, many.scope)
	if err != nil {
		return err
	}
	if len(jobs) == 0 {
		return s.nobody(ctx, many.scope)
	}
	if many.dryRun {
		return s.showGiven(preview(jobs))
	}
	if !many.yes {
		question := fmt.Sprintf("Order %s for %s (%s)%s?", o.Name, plural(len(jobs), "job"), clusters(jobs), howLong(o.Payload))
		if err := s.confirm(fmt.Sprintf("%s of %s", o.Name, plural(len(jobs), "job")), question, "nothing was done"); err != nil {
			return err
		}
	}
	if o.ID == "" {
		o.ID = s.newID()
	}
	rows := s.giveEach(ctx, jobs, o, signal)
	if err := s.showGiven(rows); err != nil {
		return err
	}
	return s.missed(ctx, rows, o, signal)
}

// howLong is the time of an order in words.
func howLong(payload map[string]any) string {
	for _, k := range []string{"for", "until"} {
		if v, ok := payload[k]; ok {
			return fmt.Sprintf(", %s %s", k, v)
		}
	}
	return ""
}

// nobody says that there is no job to give an order to: a mistyped cluster must
// not look as if all were well.
func (s *session) nobody(ctx context.Context, c scope) error {
	do := "All jobs: flinkscaler list"
	if c.cluster != "" {
		if jobs, err := s.running(ctx, scope{all: true}); err == nil && len(jobs) > 0 {
			do = "There are: " + clusters(jobs)
		}
	}
	return failed("no job is managed "+c.where(s.at.Namespace)+"; nothing was done", do)
}

func preview(jobs []managed) []given {
	rows := make([]given, len(jobs))
	for i, j := range jobs {
		rows[i] = given{ID: j.ID, Job: j.key.String(), Result: resultUnasked, Note: "dry run"}
	}
	return rows
}

// giveEach gives the order to each job. A task queue without a worker and a
// server that is gone are not met job by job, each to its timeout.
func (s *session) giveEach(ctx context.Context, jobs []managed, o order, signal bool) []given {
	rows := make([]given, len(jobs))
	var q queues
	var mu sync.Mutex
	done := 0
	p := progress{w: s.err, verb: o.Name, total: len(jobs), inPlace: s.errTerminal}
	defer p.end()
	each(len(jobs), func(i int) {
		j := jobs[i]
		mine := o
		mine.WorkflowID = j.ID
		rows[i] = given{ID: j.ID, Job: j.key.String()}
		rows[i].Result, rows[i].Note = s.giveQuietly(ctx, &q, j.TaskQueue, mine, signal)
		mu.Lock()
		defer mu.Unlock()
		done++
		p.step(done)
	})
	return rows
}

func (s *session) giveQuietly(ctx context.Context, q *queues, taskQueue string, o order, signal bool) (result, note string) {
	const server = "" // no task queue has an empty name
	switch {
	case ctx.Err() != nil:
		return resultUnasked, "interrupted"
	case q.skip(server):
		return resultUnasked, "the server does not answer"
	case !signal && q.skip(taskQueue):
		return resultUnasked, "no worker answers on task queue " + taskQueue
	}
	result, note, err := s.give(ctx, o, signal)
	switch {
	case errors.Is(err, errUnreachable), errors.Is(err, errDenied):
		q.note(server, false)
	case errors.Is(err, errNoWorker):
		q.note(taskQueue, false)
	case err == nil:
		q.note(server, true)
		q.note(taskQueue, !signal)
	}
	return result, note
}

// give gives an order to one job, as an update or as a signal.
func (s *session) give(ctx context.Context, o order, signal bool) (result, note string, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	result, note = resultDone, ""
	if signal {
		result, err = resultSent, s.srv.Signal(ctx, o)
	} else {
		answer, updateErr := s.srv.Update(ctx, o)
		note, err = answer.Message, updateErr
	}
	switch {
	case err == nil:
		return result, note, nil
	case errors.Is(err, errEnded), errors.Is(err, errNotFound):
		return resultEnded, "its workflow ended meanwhile", err
	}
	return resultFailed, plain(err), err
}

// showGiven shows a row per job; of very many only those that did not go well,
// and no more than a person reads.
func (s *session) showGiven(rows []given) error {
	if s.json() {
		return s.print(rows)
	}
	t := view.Table{Width: s.width(), Columns: []view.Column{{Title: "JOB"}, {Title: "RESULT"}, {Title: "NOTE"}}}
	count := map[string]int{}
	more := 0
	for _, r := range rows {
		count[r.Result]++
		switch {
		case len(rows) > manyResults && (r.Result == resultDone || r.Result == resultSent):
		case t.Len() == manyResults:
			more++
		default:
			t.Row(r.Job, inWords(r.Result), r.Note)
		}
	}
	if more > 0 {
		t.Row(fmt.Sprintf("and %d more", more))
	}
	if t.Len() > 0 {
		if _, err := t.WriteTo(s.out); err != nil {
			return err
		}
	}
	text := plural(len(rows), "job")
	for _, result := range []string{resultDone, resultSent, resultEnded, resultFailed, resultUnasked} {
		if n := count[result]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, inWords(result))
		}
	}
	_, err := fmt.Fprintln(s.out, text)
	return err
}

// missed is the error for jobs that did not take the order, with the command
// that gives it to them alone: who took it does not take it twice.
func (s *session) missed(ctx context.Context, rows []given, o order, signal bool) error {
	n := 0
	for _, r := range rows {
		if r.Result == resultFailed || r.Result == resultUnasked {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	do := "Again, with no second effect for those that took it:\n  " + repeatCommand(s.args, o.ID, false)
	if !signal {
		do += "\nOr leave it with the server for when a worker is back:\n  " + repeatCommand(s.args, o.ID, true)
	}
	what := fmt.Sprintf("%d of %s did not take the order", n, plural(len(rows), "job"))
	if ctx.Err() != nil {
		what = "interrupted: " + what
	}
	return failed(what, do)
}
