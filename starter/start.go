package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"flinkscaler/core/spec"
	"flinkscaler/starter/view"
	"flinkscaler/workflows"
)

// startOptions are the flags of start.
type startOptions struct {
	startFlags

	file, taskQueue string
	rate            float64
	noWait          bool
}

func newStart(a *app) *cobra.Command {
	var o startOptions
	cmd := &cobra.Command{
		Use: "start (--cluster CLUSTER --job JOB | -f FILE)", GroupID: groupManage, Args: noArgs,
		Short: "Start to manage one job, or a list of jobs",
		Long: `Start the workflow that scales a job, or those of a whole list.

The cluster is a name in the worker's configuration; the job is your name for it,
and its name in Flink unless --job-name says otherwise. A list has one JSON input
per line; blank lines and lines that begin with # are skipped. Every input is
checked before anything is started. What runs already is left alone.

Policy keys are those of the Flink autoscaler; job.autoscaler. may be left out.`,
		Example: `  flinkscaler start --cluster dev --job orders
  flinkscaler start --cluster dev --job orders --job-name "Orders v2" --policy metrics.window="5 min" --policy vertex.max-parallelism=40
  flinkscaler start -f jobs.jsonl --rate 10
  echo '{"cluster": "dev", "job": "orders"}' | flinkscaler start -f -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			inputs, err := a.inputs(o)
			if err != nil {
				return err
			}
			return a.connected(func(ctx context.Context, s *session, _ []string) error { return s.start(ctx, inputs, o) })(cmd, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.cluster, "cluster", "", "the cluster's name in the worker's configuration")
	flags.StringVar(&o.job, "job", "", "your name for the job")
	flags.StringVar(&o.jobName, "job-name", "", "the job's name in Flink, when it is another")
	flags.StringArrayVar(&o.policy, "policy", nil, "KEY=VALUE, a policy key; repeat for more")
	flags.StringVarP(&o.file, "file", "f", "", "file with one JSON input per line, - for standard input")
	flags.StringVar(&o.taskQueue, "task-queue", workflows.TaskQueue, "task queue of the workers")
	flags.Float64Var(&o.rate, "rate", defaultRate, "starts per second")
	flags.BoolVar(&o.noWait, "no-wait", false, "do not wait until the workers have accepted the inputs")
	_ = cmd.RegisterFlagCompletionFunc("cluster", a.completeClusters)
	return cmd
}

// defaultRate spreads the starts, so that the first cycles of a fleet do not
// come all at once.
const defaultRate = 5

// inputs gives what to start, all of it checked.
func (a *app) inputs(o startOptions) ([]input, error) {
	if o.rate <= 0 {
		return nil, usage(fmt.Sprintf("--rate must be more than 0, got %g", o.rate), "")
	}
	if (o.file != "") == o.given() {
		return nil, usage("give either a job with --cluster and --job, or a list with -f FILE", "Such as: flinkscaler start --cluster dev --job orders")
	}
	if o.file == "" {
		in, problems := o.input()
		return []input{in}, badInput("the input cannot be used; nothing was started", problems)
	}
	r, name, err := a.open(o.file)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // was only read
	inputs, problems, err := readInputs(r)
	if err != nil {
		return nil, usage(fmt.Sprintf("%s cannot be read: %v", name, err), "")
	}
	if len(problems) > 0 {
		return nil, badInput(fmt.Sprintf("%s has %s; nothing was started", name, plural(len(problems), "problem")), problems)
	}
	if len(inputs) == 0 {
		return nil, usage(name+" has no input", `Give one JSON object per line, such as {"cluster": "dev", "job": "orders"}.`)
	}
	return inputs, nil
}

func badInput(what string, problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	f := usage(what, "")
	f.details = problems
	return f
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func (a *app) open(file string) (io.ReadCloser, string, error) {
	if file == "-" {
		return io.NopCloser(a.in), "standard input", nil
	}
	f, err := os.Open(file) //nolint:gosec // the operator names it
	if err != nil {
		return nil, "", usage(fmt.Sprintf("%s cannot be read: %v", file, errors.Unwrap(err)), "")
	}
	return f, file, nil
}

// What became of one input.
const (
	resultStarted    = "started"
	resultAlready    = "already-running"
	resultFailed     = "failed"
	resultNotStarted = "not-started"
)

// startResult is that, as programs get it.
type startResult struct {
	ID     string `json:"id"`
	Job    string `json:"job"`
	RunID  string `json:"runId,omitempty"`
	Result string `json:"result"`
	Note   string `json:"note,omitempty"`
}

func (s *session) start(ctx context.Context, inputs []input, o startOptions) error {
	results, err := s.startAll(ctx, inputs, o)
	if err == nil && !o.noWait {
		s.settle(ctx, results, o.taskQueue)
	}
	if showErr := s.showStarted(results); showErr != nil {
		return showErr
	}
	failures, left := count(results, resultFailed), count(results, resultNotStarted)
	switch {
	case err != nil:
		if f, ok := errors.AsType[*failure](s.serverError(err)); ok {
			f.what = fmt.Sprintf("%d of %d were not started: %s", left, len(inputs), f.what)
			f.do += "\nRun the same command again when it does: what runs already is left alone."
			return f
		}
		return failed(fmt.Sprintf("%d of %d were not started: %v", left, len(inputs), err), "Run the same command again: what runs already is left alone.")
	case failures > 0:
		return failed(fmt.Sprintf("%d of %d failed", failures, len(inputs)), "")
	}
	return nil
}

// startAll starts one after the other, spread over time. It ends early, with
// the error, when the server cannot be reached or a person interrupts.
func (s *session) startAll(ctx context.Context, inputs []input, o startOptions) ([]startResult, error) {
	results := make([]startResult, len(inputs))
	for i, in := range inputs {
		results[i] = startResult{ID: spec.ID(in.spec.Key), Job: in.spec.Key.String(), Result: resultNotStarted}
	}
	tick := time.NewTicker(max(time.Duration(float64(time.Second)/o.rate), time.Microsecond))
	defer tick.Stop()
	p := progress{w: s.err, verb: "start", total: len(inputs), inPlace: s.errTerminal}
	defer p.end()
	for i, in := range inputs {
		if i > 0 {
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
		if ctx.Err() != nil {
			return results, errors.New("interrupted")
		}
		if err := s.startOne(ctx, in, o.taskQueue, &results[i]); err != nil {
			return results, err
		}
		p.step(i + 1)
	}
	return results, nil
}

// startOne starts one; an error that the next one would meet too is returned.
func (s *session) startOne(ctx context.Context, in input, taskQueue string, r *startResult) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	got, err := s.srv.Start(ctx, startRequest{ID: r.ID, TaskQueue: taskQueue, Summary: "scales Flink job " + r.Job, Input: in.raw})
	switch {
	case errors.Is(err, errUnreachable), errors.Is(err, errDenied), errors.Is(err, errNamespace):
		return err
	case err != nil:
		r.Result, r.Note = resultFailed, err.Error()
	case got.Already:
		r.Result, r.RunID, r.Note = resultAlready, got.RunID, "its input is unchanged"
	default:
		r.Result, r.RunID = resultStarted, got.RunID
	}
	return nil
}

// settle looks what the workers say to the new inputs: a cluster that a worker
// does not know ends a workflow at once, and should be seen now.
func (s *session) settle(ctx context.Context, results []startResult, taskQueue string) {
	var q queues
	each(len(results), func(i int) {
		r := &results[i]
		if r.Result != resultStarted || ctx.Err() != nil {
			return
		}
		if q.skip(taskQueue) {
			r.Note = "no worker has taken it yet"
			return
		}
		_, err := s.status(ctx, r.ID)
		if errors.Is(err, errNoWorker) {
			q.note(taskQueue, false)
			r.Note = "no worker has taken it yet"
			return
		}
		q.note(taskQueue, true)
		s.sawEnd(ctx, r)
	})
}

// sawEnd notes that a workflow ended right after its start, and why.
func (s *session) sawEnd(ctx context.Context, r *startResult) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	e, err := s.srv.Describe(ctx, r.ID)
	if err != nil || e.running() || e.RunID != r.RunID {
		return
	}
	r.Result, r.Note = resultFailed, "ended at once: "+e.Status
	if why, err := s.srv.Outcome(ctx, r.ID, r.RunID); err == nil && why != "" {
		r.Note = "ended at once: " + why
	}
}

func count(results []startResult, what string) int {
	n := 0
	for _, r := range results {
		if r.Result == what {
			n++
		}
	}
	return n
}

// manyResults is how many rows a person still reads; of more only what is not
// plainly started is shown.
const manyResults = 50

// inWords is a result for people.
func inWords(result string) string { return strings.ReplaceAll(result, "-", " ") }

func (s *session) showStarted(results []startResult) error {
	if s.json() {
		return s.print(results)
	}
	t := view.Table{Width: s.width(), Columns: []view.Column{{Title: "JOB"}, {Title: "RESULT"}, {Title: "NOTE"}}}
	silent := 0
	for _, r := range results {
		if r.Result == resultStarted && r.Note != "" {
			silent++
		}
		if len(results) <= manyResults || r.Result != resultStarted {
			t.Row(r.Job, inWords(r.Result), r.Note)
		}
	}
	if t.Len() > 0 {
		if _, err := t.WriteTo(s.out); err != nil {
			return err
		}
	}
	if len(results) > 1 {
		fmt.Fprintf(s.out, "%d started, %d already running, %d failed, %d not started\n",
			count(results, resultStarted), count(results, resultAlready), count(results, resultFailed), count(results, resultNotStarted))
	}
	if silent > 0 {
		fmt.Fprintf(s.err, "No worker has taken %s yet: what is started begins as soon as one runs.\n", plural(silent, "job"))
	}
	return nil
}

// progress shows how far a long list is: in place on a terminal, else now and
// then.
type progress struct {
	w       io.Writer
	verb    string
	total   int
	inPlace bool
}

const (
	longList  = 20
	lineEvery = 100
)

func (p progress) step(n int) {
	switch {
	case p.total < longList:
	case p.inPlace:
		fmt.Fprintf(p.w, "\r%s: %d of %d", p.verb, n, p.total)
	case n%lineEvery == 0 && n < p.total:
		fmt.Fprintf(p.w, "%s: %d of %d\n", p.verb, n, p.total)
	}
}

func (p progress) end() {
	if p.inPlace && p.total >= longList {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
