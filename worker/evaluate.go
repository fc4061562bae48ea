package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"flinkscaler/activities"
	"flinkscaler/adapters/flink"
	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/core/spec"
	"flinkscaler/core/whatif"
	"flinkscaler/internal/config"
	"flinkscaler/internal/flags"
)

const evaluateLong = `Look at a running job, or read a recording of looks, and print what would be
decided and why. Nothing is changed, and no Temporal is needed.

One look cannot judge: a rate is the difference of two, and the policy wants
samples over a whole window. --for looks again and again, once per interval of the
policy or --every, until the window can be judged, at most that long; with --record
or --all for all of that time. What is seen is told on standard error. Ctrl-C ends
it with what is known by then.

--policy asks what another policy would come to; it goes before every other layer,
and job.autoscaler. may be left out. --record keeps the looks in a file, which
--samples reads, with another --policy if wanted; of what follows a change nothing is
simulated. Neither knows what a workflow knows besides: orders of operators, and
what became of past rescales.

Exit codes: 0 for a decision, hold or change; 1 when the job cannot be looked at, or
the last look failed; 2 when the command line, the configuration, a file or the
policy is wrong, whoever gave that. What was seen is printed all the same.`

const evaluateExample = `  flinkscaler-worker evaluate --config worker.yaml --cluster dev --job orders --for 16m
  flinkscaler-worker evaluate --config worker.yaml --cluster dev --job orders --for 3m --every 10s \
    --policy metrics.window=2min --policy stabilization.interval=0s
  flinkscaler-worker evaluate --config worker.yaml '{"cluster": "dev", "job": "orders"}' --output json
  flinkscaler-worker evaluate --config worker.yaml --input orders.json --for 2h --record orders.jsonl
  flinkscaler-worker evaluate --samples orders.jsonl --all --policy utilization.target=0.6`

// Forms of the answer.
const (
	outputText = "text"
	outputJSON = "json"
)

// question is what the command line asks.
type question struct {
	config                 string
	cluster, job, jobName  string
	input, samples, record string
	pairs                  []string
	span, every            flags.Period
	all                    bool
	output                 string
	commandLine            map[string]string
	environ                []string
	in                     io.Reader
	out, progress          io.Writer
	argument               string
}

func newEvaluate(environ []string) *cobra.Command {
	q := &question{environ: environ}
	cmd := &cobra.Command{
		Use:   "evaluate (--cluster CLUSTER --job JOB | --input FILE | INPUT | --samples FILE)",
		Short: "Print what would be decided for a job, and why; change nothing",
		Long:  evaluateLong, Example: evaluateExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{fmt.Errorf("unexpected argument %q: an input is one argument, in quotes", args[1])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				q.argument = args[0]
			}
			q.in, q.out, q.progress = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			if err := q.check(); err != nil {
				return err
			}
			if q.samples != "" {
				return q.replay()
			}
			return q.live(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&q.config, "config", "c", "", "the worker's configuration `FILE` (or "+config.EnvFile+")")
	f.StringVar(&q.cluster, "cluster", "", "the cluster's name in the configuration")
	f.StringVar(&q.job, "job", "", "your name for the job")
	f.StringVar(&q.jobName, "job-name", "", "the job's name in Flink, when it is another")
	f.StringVar(&q.input, "input", "", "`FILE` with the workflow's input, - for standard input")
	f.StringVar(&q.samples, "samples", "", "judge the looks recorded in `FILE`, - for standard input, not a running job")
	f.StringArrayVar(&q.pairs, "policy", nil, "`KEY=VALUE`, a policy key that goes before all others; repeat for more")
	f.Var(&q.span, "for", "look again until the window can be judged, at most so long")
	f.Var(&q.every, "every", "time between looks (default the policy's interval)")
	f.StringVar(&q.record, "record", "", "write the looks to a new `FILE`")
	f.BoolVar(&q.all, "all", false, "show each time the decision became another, not only the last one")
	f.StringVarP(&q.output, "output", "o", outputText, "text for people, json for programs")
	return cmd
}

// check finds what does not go together, before anything is read.
func (q *question) check() error {
	wrong := func(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }
	sources := 0
	for _, given := range []bool{q.cluster+q.job+q.jobName != "", q.input != "", q.argument != "", q.samples != ""} {
		if given {
			sources++
		}
	}
	switch {
	case sources != 1:
		return wrong("name the job in one way: --cluster and --job, --input FILE, a JSON object, or --samples FILE")
	case q.output != outputText && q.output != outputJSON:
		return wrong("unknown output %q; known are text and json", q.output)
	case q.samples != "" && (q.span != 0 || q.every != 0 || q.record != ""):
		return wrong("--for, --every and --record are for a running job, not for --samples")
	case q.every != 0 && q.span == 0:
		return wrong("--every needs --for: without it there is one look")
	case q.every > q.span:
		return wrong("--every is longer than --for: there would be one look")
	}
	var bad []string
	if q.commandLine, bad = flags.Policy(q.pairs); len(bad) > 0 {
		return wrong("%s", strings.Join(bad, "; "))
	}
	for _, key := range []string{intervalKey, policy.OldPrefix + "interval"} {
		if v, given := q.commandLine[key]; given && q.every != 0 {
			return wrong("--every %s and --policy interval=%s both say the time between looks: give one", flag(time.Duration(q.every)), v)
		}
	}
	if q.every != 0 {
		// The looks are the cycle: what depends on it must know.
		q.commandLine[intervalKey] = policy.FormatDuration(time.Duration(q.every))
	}
	return nil
}

const intervalKey = policy.Prefix + "interval"

// sources are what the policy is made of besides the job's own configuration.
type sources struct{ commandLine, recorded, input, cluster map[string]string }

// layers names the policy's layers, highest first.
func (s sources) layers(config map[string]string) []policy.Layer {
	above := []policy.Layer{{Name: "command line", Values: s.commandLine}}
	if len(s.recorded) > 0 {
		above = append(above, policy.Layer{Name: "command line of the recording", Values: s.recorded})
	}
	return append(above, activities.Layers(nil, s.input, config, s.cluster)...)
}

// replay judges a recording.
func (q *question) replay() error {
	text, err := q.read(q.samples)
	if err != nil {
		return err
	}
	rec, problems := whatif.Parse(text)
	if len(problems) > 0 {
		return &config.Error{File: q.samples, Problems: problems}
	}
	if rec.Cut > 0 {
		fmt.Fprintf(q.progress, "note: %s: line %d is cut off and left out: the recording ended while it was written\n", q.samples, rec.Cut)
	}
	h := rec.Header
	e := newEvaluation(h.Key, sources{commandLine: q.commandLine, recorded: h.CommandLine, input: h.Input, cluster: h.ClusterDefault})
	for _, o := range rec.Looks {
		e.take(o)
	}
	if err := e.policyProblems(); err != nil {
		return err
	}
	return q.finish(e)
}

// finish prints the answer; what is wrong with it makes the exit code.
func (q *question) finish(e *evaluation) error {
	if err := q.print(e.answer()); err != nil {
		return err
	}
	return e.failed()
}

// live looks at a running job.
func (q *question) live(ctx context.Context) error {
	s, err := q.spec()
	if err != nil {
		return err
	}
	cfg, notes, err := config.Load(config.Source{File: q.config, Environ: q.environ})
	if err != nil {
		return err
	}
	for _, n := range notes {
		fmt.Fprintln(q.progress, "note:", n)
	}
	cluster, err := onlyCluster(&cfg, s.Key.Cluster)
	if err != nil {
		return err
	}
	open, err := openClusters(cfg)
	if err != nil {
		return err
	}
	defer closeAll(open)
	acts, err := newActivities(cfg, open, nil, nil, nil)
	if err != nil {
		return err
	}
	e := newEvaluation(s.Key, sources{commandLine: q.commandLine, input: s.Policy, cluster: cluster.Policy})
	e.target, e.look, e.now, e.wait, e.progress = s.Target, acts.Look, time.Now, wait, q.progress
	e.names = func(ctx context.Context) []string { return liveNames(ctx, open[s.Key.Cluster].flink) }
	e.span, e.whole = time.Duration(q.span), q.all || q.record != ""
	if q.record != "" {
		r, err := newRecorder(q.record, whatif.Header{
			RecordedAt: e.now().UTC(), Key: s.Key, Target: s.Target, CommandLine: q.commandLine, Input: s.Policy, ClusterDefault: cluster.Policy,
		})
		if err != nil {
			return err
		}
		defer r.close()
		e.record = r.look
	}
	if err := e.run(ctx); err != nil {
		return err
	}
	return q.finish(e)
}

// onlyCluster keeps one cluster of the configuration: no other is opened.
func onlyCluster(cfg *config.Config, name string) (config.Cluster, error) {
	names := make([]string, 0, len(cfg.Clusters))
	for _, c := range cfg.Clusters {
		if c.Name == name {
			cfg.Clusters = []config.Cluster{c}
			return c, nil
		}
		names = append(names, c.Name)
	}
	return config.Cluster{}, &config.Error{File: "the input", Problems: []core.Problem{{
		Path: "cluster", Message: fmt.Sprintf("unknown cluster %q; the configuration knows %s", name, strings.Join(names, ", ")),
	}}}
}

// spec is the job as the workflow's input would name it.
func (q *question) spec() (spec.Spec, error) {
	text, from := []byte(q.argument), "the input"
	switch {
	case q.input != "":
		var err error
		if text, err = q.read(q.input); err != nil {
			return spec.Spec{}, err
		}
		from = q.input
	case q.argument == "":
		doc := map[string]any{}
		for k, v := range map[string]string{"cluster": q.cluster, "job": q.job} {
			if v != "" {
				doc[k] = v
			}
		}
		if q.jobName != "" {
			doc["target"] = map[string]any{"flink": map[string]string{"jobName": q.jobName}}
		}
		var err error
		if text, err = json.Marshal(doc); err != nil {
			return spec.Spec{}, err
		}
	}
	s, problems := spec.Decode(text)
	if len(problems) > 0 {
		return spec.Spec{}, &config.Error{File: from, Problems: problems}
	}
	return s, nil
}

// maxFile is more than any recording has that is of use: a day of looks at a
// job of 300 vertices is 100 MB.
const maxFile = 256 << 20

// read reads a file, or standard input for "-".
func (q *question) read(file string) ([]byte, error) {
	r := q.in
	if file != "-" {
		f, err := os.Open(file) //nolint:gosec // the person who runs this names it
		if err != nil {
			return nil, unreadable(file, err)
		}
		defer f.Close() //nolint:errcheck // was only read
		r = f
	}
	b, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return nil, unreadable(file, err)
	case len(b) > maxFile:
		return nil, unreadable(file, fmt.Errorf("is larger than %d MiB", maxFile>>20))
	}
	return b, nil
}

func unreadable(file string, err error) error {
	return &config.Error{File: file, Problems: []core.Problem{{Path: "file", Message: "cannot be read: " + cause(err)}}}
}

// cause leaves out the path, which is told already.
func cause(err error) string {
	if p, ok := err.(*os.PathError); ok { //nolint:errorlint // the outermost one
		return p.Err.Error()
	}
	return err.Error()
}

// liveNames lists the names of the jobs that run on a cluster, for a mistyped
// one; none when it does not answer.
func liveNames(ctx context.Context, c *flink.Cluster) []string {
	if c == nil {
		return nil // a Kubernetes cluster: its jobs go by their objects
	}
	jobs, err := c.Jobs(ctx)
	if err != nil {
		return nil
	}
	var out []string
	for _, j := range jobs {
		if !j.State.Ended() {
			out = append(out, j.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// recorder writes looks to a file, each at once, so that it is whole whenever
// it ends.
type recorder struct {
	file  *os.File
	looks int
}

func newRecorder(name string, h whatif.Header) (*recorder, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the person who runs this names it
	if err != nil {
		return nil, &config.Error{File: name, Problems: []core.Problem{{Path: "--record", Message: "cannot be written: " + cause(err)}}}
	}
	line, err := whatif.HeaderLine(h)
	if err == nil {
		_, err = f.Write(line)
	}
	return &recorder{file: f}, err
}

func (r *recorder) look(o core.Observation) error {
	line, err := whatif.LookLine(o)
	if err == nil {
		_, err = r.file.Write(line)
	}
	r.looks++
	return err
}

// close leaves nothing behind where nothing was seen.
func (r *recorder) close() {
	_ = r.file.Close()
	if r.looks == 0 {
		_ = os.Remove(r.file.Name())
	}
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
