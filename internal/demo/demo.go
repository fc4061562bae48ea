package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/client"
	"sigs.k8s.io/yaml"

	"flinkscaler/core"
	"flinkscaler/core/spec"
	"flinkscaler/internal/child"
	"flinkscaler/internal/devserver"
	"flinkscaler/internal/logging"
	"flinkscaler/internal/toolcache"
	"flinkscaler/starter/view"
	"flinkscaler/workflows"
)

// Options say what to show.
type Options struct {
	// For ends the demo by itself, 0 for by Ctrl-C.
	For time.Duration
	// Flink is the version of a real Flink, empty for the simulated one.
	Flink string
	// Worker is the path of the worker's binary.
	Worker string
	Out    io.Writer
	// View is how the live view draws.
	View view.Options
}

// showEvery is how often the view looks at the workflow.
const showEvery = 500 * time.Millisecond

// Run shows the demo until ctx ends or its time is over. It leaves nothing
// behind: no process, no folder.
func Run(ctx context.Context, o Options) error {
	dir, err := os.MkdirTemp("", "flinkscaler-demo-")
	if err != nil {
		return err
	}
	d := &demo{o: o, dir: dir}
	defer d.close()
	if err := d.start(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // ended while it was starting
		}
		return err
	}
	if o.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.For)
		defer cancel()
	}
	d.watch(ctx)
	return d.summary()
}

// demo is what runs.
type demo struct {
	o      Options
	dir    string
	closer []func()
	client client.Client
	server *devserver.Server
	worker *child.Process
	// maxLag is the longest lag seen, in seconds.
	maxLag float64
}

func (d *demo) close() {
	for i := len(d.closer) - 1; i >= 0; i-- {
		d.closer[i]()
	}
	_ = os.RemoveAll(d.dir)
}

func (d *demo) say(format string, args ...any) { _, _ = fmt.Fprintf(d.o.Out, format+"\n", args...) }

// start brings up the parts one after the other, saying so.
func (d *demo) start(ctx context.Context) error {
	if err := d.startServer(ctx); err != nil {
		return err
	}
	f, err := d.startFlink(ctx)
	if err != nil {
		return err
	}
	if err := d.startWorker(f); err != nil {
		return err
	}
	if err := d.startWorkflow(ctx, f); err != nil {
		return err
	}
	d.say("\nTemporal UI:  %s/namespaces/default/workflows/%s", d.server.UI(), "flink%2Fdemo%2F"+jobName)
	d.say("Flink REST:   %s", f.url)
	d.say("From another terminal: TEMPORAL_ADDRESS=%s bin/flinkscaler status demo/%s   (make build)\n", d.server.Address(), jobName)
	return nil
}

func (d *demo) startServer(ctx context.Context) error {
	cache, err := toolcache.Open()
	if err != nil {
		return err
	}
	temporal, err := cache.FindTemporal(ctx)
	if err != nil {
		return err
	}
	d.say("starting a Temporal dev server ...")
	d.server, err = devserver.Start(ctx, devserver.Options{Temporal: temporal, Dir: filepath.Join(d.dir, "temporal"), UI: true, Attributes: []string{
		workflows.AttrCluster + "=Keyword", workflows.AttrState + "=Keyword", workflows.AttrParallelism + "=Int", workflows.AttrLastRescale + "=Datetime",
	}})
	if err != nil {
		return err
	}
	d.closer = append(d.closer, func() { _ = d.server.Close() })
	quiet, err := logging.New(logging.Settings{Name: "demo", Level: "error", Format: "human", Output: io.Discard})
	if err != nil {
		return err
	}
	d.client, err = client.DialContext(ctx, client.Options{HostPort: d.server.Address(), Logger: quiet.Temporal()})
	if err != nil {
		return fmt.Errorf("reach the Temporal dev server: %w", err)
	}
	d.closer = append(d.closer, d.client.Close)
	return nil
}

func (d *demo) startFlink(ctx context.Context) (flink, error) {
	var (
		f   flink
		err error
	)
	if d.o.Flink == "" {
		d.say("starting a simulated Flink cluster ...")
		f, err = simulated()
	} else {
		d.say("starting Flink %s: one JobManager, two TaskManagers; this takes about 20 s ...", d.o.Flink)
		f, err = genuine(ctx, d.o.Flink, d.dir, d.o.Out)
	}
	if err != nil {
		return f, err
	}
	d.closer = append(d.closer, f.close)
	return f, nil
}

// startWorker writes the worker's configuration and starts the real binary.
func (d *demo) startWorker(f flink) error {
	d.say("starting a worker ...")
	config := filepath.Join(d.dir, "worker.yaml")
	b, err := yaml.Marshal(map[string]any{
		"searchAttributes": true,
		"http":             map[string]any{"listen": "127.0.0.1:0"},
		"clusters":         map[string]any{"demo": map[string]any{"flink": map[string]any{"url": f.url}}},
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(config, b, 0o600); err != nil {
		return err
	}
	d.worker, err = child.Start(child.Command{
		Name: "worker", Path: d.o.Worker, Args: []string{"--config", config}, Dir: d.dir, LogDir: d.dir,
		Env: []string{"TEMPORAL_ADDRESS=" + d.server.Address(), "TEMPORAL_CONFIG_FILE=" + filepath.Join(d.dir, "none.toml")},
	})
	if err != nil {
		return err
	}
	d.closer = append(d.closer, func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = d.worker.Stop(ctx)
	})
	return nil
}

func (d *demo) startWorkflow(ctx context.Context, f flink) error {
	d.say("starting the workflow %s for %s ...", d.id(), f.what)
	input, err := json.Marshal(map[string]any{"cluster": "demo", "job": jobName, "policy": f.policy})
	if err != nil {
		return err
	}
	_, err = d.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: d.id(), TaskQueue: workflows.TaskQueue, StaticSummary: "scales the Flink job " + jobName,
	}, workflows.ScaleName, json.RawMessage(input))
	if err != nil {
		return fmt.Errorf("start the workflow: %w", err)
	}
	return nil
}

func (d *demo) id() string { return spec.ID(core.JobKey{Cluster: "demo", Job: jobName}) }

// watch draws the workflow's status until ctx ends.
func (d *demo) watch(ctx context.Context) {
	live := view.NewLive(d.o.Out, d.o.View)
	defer func() { _ = live.Close() }()
	ticker := time.NewTicker(showEvery)
	defer ticker.Stop()
	for {
		s, err := ask[workflows.Status](ctx, d, workflows.QueryStatus)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !d.worker.Alive():
			_ = live.Trouble("the worker has ended: " + d.worker.Tail())
			return
		case err != nil:
			_ = live.Trouble("no answer from the workflow yet: " + err.Error())
		default:
			d.maxLag = max(d.maxLag, s.LagSeconds.Or(0))
			_ = live.Show(s)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// ask queries the workflow.
func ask[T any](ctx context.Context, d *demo, query string) (T, error) {
	var out T
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	v, err := d.client.QueryWorkflow(ctx, d.id(), "", query)
	if err != nil {
		return out, err
	}
	return out, v.Get(&out)
}

// summary prints what happened; its last line is for programs.
func (d *demo) summary() error {
	h, err := ask[workflows.History](context.Background(), d, workflows.QueryHistory)
	if err != nil {
		return errors.Join(fmt.Errorf("the history could not be read: %w", err), d.workerEnd())
	}
	ups, downs, holds := count(h)
	d.say("")
	for _, o := range h.Rescales {
		d.say("%s  %s in %.1f s  %s", view.Clock(o.EndedAt), o.Kind, o.EndedAt.Sub(o.StartedAt).Seconds(), o.Note)
	}
	d.say("summary: scale_ups=%d scale_downs=%d holds=%d max_lag_s=%.0f", ups, downs, holds, d.maxLag)
	return nil
}

func (d *demo) workerEnd() error {
	if d.worker.Alive() {
		return nil
	}
	return errors.New(d.worker.Tail())
}

// count sums up a history: rescales by direction, and decisions to hold.
func count(h workflows.History) (ups, downs, holds int) {
	for _, o := range h.Rescales {
		if o.Kind != core.Applied && o.Kind != core.Partial {
			continue
		}
		switch grown := total(o.Got) - total(o.From); {
		case grown > 0:
			ups++
		case grown < 0:
			downs++
		}
	}
	for _, r := range h.Decisions {
		if r.Verdict == core.Hold {
			holds += r.Count
		}
	}
	return ups, downs, holds
}

func total(sizes []core.VertexSize) int {
	sum := 0
	for _, s := range sizes {
		sum += s.Parallelism
	}
	return sum
}
