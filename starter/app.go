package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/spf13/cobra"

	"flinkscaler/core"
	"flinkscaler/core/spec"
	"flinkscaler/internal/connect"
	"flinkscaler/starter/view"
	"flinkscaler/workflows"
)

// app is the tool with its surroundings: streams, clock, environment and how a
// server is reached.
type app struct {
	in       io.Reader
	out, err io.Writer
	// args is the command line, without the program's name.
	args []string
	now  func() time.Time
	// newID makes the id of an order.
	newID func() string
	env   connect.Environ
	user  func() string
	dial  func(context.Context, client.Options, endpoint, connect.Environ) (server, error)
	// size is the terminal's, zeros for none.
	size                                 func() (width, height int)
	inTerminal, outTerminal, errTerminal bool

	// The global flags.
	settings settings
	output   string
	timeout  time.Duration
}

// session is an app with a connection.
type session struct {
	*app

	srv server
	at  endpoint
}

const (
	outputTable = "table"
	outputJSON  = "json"
)

func (a *app) json() bool { return a.output == outputJSON }

// colour is for people at a terminal who did not forbid it.
func (a *app) colour() view.Palette {
	no, set := a.env.LookupEnv("NO_COLOR")
	dumb, _ := a.env.LookupEnv("TERM")
	return view.Palette(a.outTerminal && (!set || no == "") && dumb != "dumb")
}

// width is that of the terminal, 0 for a pipe, where nothing is clipped.
func (a *app) width() int {
	if !a.outTerminal {
		return 0
	}
	w, _ := a.size()
	return w
}

// print writes one JSON document.
func (a *app) print(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// connect opens a session; the caller closes its server.
func (a *app) connect(ctx context.Context) (*session, error) {
	opts, at, err := a.settings.options(a.env)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	srv, err := a.dial(ctx, opts, at, a.env)
	if err != nil {
		return nil, err
	}
	return &session{app: a, srv: srv, at: at}, nil
}

// connected makes a command's function of one that needs a session. Whatever
// goes wrong in it is a failure, no bad usage, unless it says so itself.
func (a *app) connected(f func(ctx context.Context, s *session, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		s, err := a.connect(ctx)
		if err != nil {
			return err
		}
		defer s.srv.Close()
		err = f(ctx, s, args)
		if _, ok := errors.AsType[*failure](err); err != nil && !ok && ctx.Err() == nil {
			return failed(err.Error(), "")
		}
		return err
	}
}

// job makes a command's function of one that is about the job of its first
// argument, which is read before anything is connected.
func (a *app) job(f func(ctx context.Context, s *session, key core.JobKey) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		key, err := parseJob(args[0])
		if err != nil {
			return err
		}
		return a.connected(func(ctx context.Context, s *session, _ []string) error { return f(ctx, s, key) })(cmd, args)
	}
}

// bounded is the time that one call may take.
func (s *session) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.timeout)
}

// ask describes a workflow and asks it a query. The execution is good even
// when the error is that no worker answers.
func (s *session) ask(ctx context.Context, key core.JobKey, query string, answer any) (execution, error) {
	e, err := s.describe(ctx, key)
	if err != nil {
		return e, err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if err := s.srv.Query(ctx, e.ID, query, answer); err != nil {
		return e, s.explain(ctx, key, e, err)
	}
	return e, nil
}

func (s *session) describe(ctx context.Context, key core.JobKey) (execution, error) {
	e, err := s.peek(ctx, key)
	if err != nil {
		return e, s.explain(ctx, key, e, err)
	}
	return e, nil
}

// status asks for the status alone.
func (s *session) status(ctx context.Context, id string) (workflows.Status, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var st workflows.Status
	err := s.srv.Query(ctx, id, workflows.QueryStatus, &st)
	return st, err
}

// progress asks the rescale that is under way how far it is; nil when there is
// none or it does not tell. It is worth a moment, not the whole time of a call.
func (s *session) progress(ctx context.Context, st workflows.Status) *view.Progress {
	if st.Rescale == nil || st.RescaleWorkflow == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, min(s.timeout, progressTimeout))
	defer cancel()
	var p view.Progress
	if err := s.srv.Query(ctx, st.RescaleWorkflow, workflows.QueryProgress, &p.RescaleProgress); err != nil || p.Attempt != st.Rescale.Attempt {
		return nil
	}
	var beat workflows.RescaleBeat
	if found, err := s.srv.Heartbeat(ctx, st.RescaleWorkflow, &beat); found && err == nil {
		p.Beat = &beat
	}
	return &p
}

const progressTimeout = 2 * time.Second

// explain turns an error about a job into one for a person.
func (s *session) explain(ctx context.Context, key core.JobKey, e execution, err error) error {
	if _, ok := errors.AsType[*failure](err); ok {
		return err
	}
	f := &failure{code: exitFailed, cause: err}
	switch {
	case errors.Is(err, errNotFound):
		f.what = fmt.Sprintf("there is no workflow %s in namespace %s", spec.ID(key), s.at.Namespace)
		f.do = s.nearest(ctx, key)
	case errors.Is(err, errEnded):
		f.what = fmt.Sprintf("%s is not managed: its workflow does not run any more", key)
		f.do = fmt.Sprintf("Start it again with: flinkscaler start --cluster %s --job %s", quote(key.Cluster), quote(key.Job))
	case errors.Is(err, errNoWorker):
		f.what = fmt.Sprintf("no worker answered for %s within %s", key, view.Duration(s.timeout))
		f.do = noWorker(e.TaskQueue)
	case errors.Is(err, errRejected):
		f.what = fmt.Sprintf("%s refused: %s", key, plain(err))
	default:
		return s.serverError(err)
	}
	return f
}

func noWorker(taskQueue string) string {
	return fmt.Sprintf("Check that a worker runs on task queue %q and is healthy, or give it more time with --timeout.", orElse(taskQueue, workflows.TaskQueue))
}

// serverError is about the server, not about a job.
func (s *session) serverError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errUnreachable):
		return unreachable(s.at, err)
	case errors.Is(err, errDenied):
		return denied(s.at, err)
	case errors.Is(err, errNamespace):
		return noNamespace(s.at, err)
	}
	return err
}

// quote is a word as a shell needs it.
func quote(s string) string {
	if strings.ContainsAny(s, " '\"$&|;<>()*?[]#~`\\!{}") || s == "" {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}
