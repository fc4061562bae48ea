package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/spec"
	"flinkscaler/internal/stack"
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
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if o.For > 0 { // not a deadline: calls under way would report it before it is there
		defer time.AfterFunc(o.For, cancel).Stop()
	}
	if err := d.watch(ctx); err != nil {
		return err
	}
	return d.summary()
}

// demo is what runs.
type demo struct {
	o     Options
	dir   string
	flink flink
	stack *stack.Stack
	tide  tide
	// maxLag is the longest lag seen, in seconds.
	maxLag float64
}

// key names the job of the demo.
func key() core.JobKey { return core.JobKey{Cluster: "demo", Job: jobName} }

func (d *demo) close() {
	if d.stack != nil {
		_ = d.stack.Close()
	}
	if d.flink.close != nil {
		d.flink.close()
	}
	_ = os.RemoveAll(d.dir)
}

func (d *demo) say(format string, args ...any) { _, _ = fmt.Fprintf(d.o.Out, format+"\n", args...) }

// start brings up the parts one after the other, saying so.
func (d *demo) start(ctx context.Context) error {
	d.say("flinkscaler demo: a Temporal workflow scales a Flink job as its load changes.")
	d.say("Windows and delays, minutes in earnest, are seconds here.\n")
	var err error
	if d.o.Flink == "" {
		d.say("starting a simulated Flink cluster with 8 slots ...")
		d.flink, err = simulated()
	} else {
		d.say("starting Flink %s: one JobManager, two TaskManagers with 4 slots each; about 20 s ...", d.o.Flink)
		d.flink, err = genuine(ctx, d.o.Flink, d.dir, d.o.Out)
	}
	if err != nil {
		return err
	}
	d.say("starting a Temporal dev server and a worker ...")
	d.stack, err = stack.Start(ctx, stack.Options{
		Dir: d.dir, Worker: d.o.Worker, UI: true, Attributes: true,
		Clusters: map[string]any{key().Cluster: map[string]any{"flink": map[string]any{"url": d.flink.url}}},
	})
	if err != nil {
		return err
	}
	d.say("starting the Flink job %s ...", jobName)
	if err := d.flink.submit(ctx); err != nil {
		return err
	}
	d.tide.set = d.flink.set
	if err := d.tide.begin(time.Now(), quiet); err != nil {
		return err
	}
	d.say("starting the workflow %s ...", spec.ID(key()))
	if err := d.stack.StartJob(ctx, key(), d.flink.policy); err != nil {
		return err
	}
	d.say("")
	if !d.o.View.Terminal {
		d.say("%s\n", strings.Join(d.addresses(), "\n"))
	}
	return nil
}

// addresses say where to look, and what to try.
func (d *demo) addresses() []string {
	return []string{
		"UI     " + d.stack.Server.UI() + "  (Temporal)",
		"Flink  " + d.flink.url,
		"try    TEMPORAL_ADDRESS=" + d.stack.Server.Address() + " bin/flinkscaler explain " + key().String(),
	}
}

// footer is what stays below the view.
func (d *demo) footer() []string {
	lines := append([]string{"load   " + d.tide.say(time.Now())}, d.addresses()...)
	lines = append(lines, "Ctrl-C ends the demo")
	for i := range lines {
		lines[i] = "  " + lines[i]
	}
	return lines
}

// watch draws the workflow's status and moves the load until ctx ends.
func (d *demo) watch(ctx context.Context) error {
	d.o.View.Footer = d.footer
	live := view.NewLive(d.o.Out, d.o.View)
	defer func() { _ = live.Close() }()
	ticker := time.NewTicker(showEvery)
	defer ticker.Stop()
	for {
		s, err := ask[workflows.Status](ctx, d, workflows.QueryStatus)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !d.stack.Worker.Alive():
			return errors.New("the worker has ended\n" + d.stack.Worker.Tail())
		case err != nil:
			_ = live.Trouble("no answer from the workflow yet: " + err.Error())
		default:
			d.maxLag = max(d.maxLag, s.LagSeconds.Or(0))
			_ = live.Show(s, nil)
			if err := d.move(s); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// move moves the load, and says so where there is no footer.
func (d *demo) move(s workflows.Status) error {
	before, now := d.tide.rate, time.Now()
	if err := d.tide.look(now, s); err != nil {
		return fmt.Errorf("change the load: %w", err)
	}
	if d.tide.rate != before && !d.o.View.Terminal {
		d.say("%s  load: %s", view.Clock(now), d.tide.say(now))
	}
	return nil
}

// ask queries the workflow.
func ask[T any](ctx context.Context, d *demo, query string) (T, error) {
	var out T
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	err := d.stack.Query(ctx, key(), query, &out)
	return out, err
}

// summary prints what happened; its last line is for programs.
func (d *demo) summary() error {
	h, err := ask[workflows.History](context.Background(), d, workflows.QueryHistory)
	if err != nil {
		return fmt.Errorf("the history could not be read: %w", err)
	}
	s, err := ask[workflows.Status](context.Background(), d, workflows.QueryStatus)
	if err != nil {
		return fmt.Errorf("the status could not be read: %w", err)
	}
	ups, downs, holds := count(h)
	d.say("")
	for _, o := range h.Rescales {
		d.say("%s  %s in %.1f s: %s", view.Clock(o.EndedAt), o.Kind, o.EndedAt.Sub(o.StartedAt).Seconds(), view.Changes(o, s.Vertices))
	}
	d.say("summary: scale_ups=%d scale_downs=%d holds=%d max_lag_s=%.0f", ups, downs, holds, d.maxLag)
	return nil
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
