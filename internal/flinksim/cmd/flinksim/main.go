// Command flinksim runs a simulated Flink cluster for the demo and by hand:
//
//	go run ./internal/flinksim/cmd/flinksim --port 8081 --jobs 1 --load wave:500..4500@2m
//
// It prints its address and runs until it is interrupted. Package flinksim
// lists the paths below /sim/ by which another process steers it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"flinkscaler/internal/flinksim"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "flinksim:", err)
		os.Exit(1)
	}
}

type settings struct {
	port, jobs, slots     int
	load, name, version   string
	parallelism           int
	fetch, gauges, cache  time.Duration
	cooldown, down, check time.Duration
}

func parse(args []string) (settings, error) {
	var s settings
	f := flag.NewFlagSet("flinksim", flag.ContinueOnError)
	f.IntVar(&s.port, "port", 0, "port on the loopback address, 0 for a free one")
	f.IntVar(&s.jobs, "jobs", 1, "number of jobs")
	f.StringVar(&s.name, "name", "orders", "name of the job; of several: name-0, name-1, ...")
	f.StringVar(&s.load, "load", "wave", "what arrives: wave, steps, const, or such as 1000, wave:500..4500@2m, steps:300x30s,2500x3m,700, list:10s:100,200")
	f.IntVar(&s.slots, "slots", 0, "slots of the cluster, 0 for 16 per job")
	f.IntVar(&s.parallelism, "parallelism", 2, "of the costly vertex at the start; each subtask does 1000 records/s")
	f.StringVar(&s.version, "flink", flinksim.Flink23, "version to imitate: "+flinksim.Flink23+" or "+flinksim.Flink120)
	f.DurationVar(&s.fetch, "fetch-interval", 10*time.Second, "metrics.fetcher.update-interval: how often metrics move")
	f.DurationVar(&s.gauges, "gauge-span", time.Minute, "over what time gauges and meters average; Flink's is a minute")
	f.DurationVar(&s.cache, "refresh-interval", 3*time.Second, "web.refresh-interval: how long the job's answer is cached")
	f.DurationVar(&s.cooldown, "cooldown", time.Second, "no rescale begins so soon after the last")
	f.DurationVar(&s.down, "downtime", time.Second, "how long a rescale or restart stops the job")
	f.DurationVar(&s.check, "checkpoint-interval", 5*time.Second, "between checkpoints, negative for none")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	if f.NArg() > 0 {
		return s, fmt.Errorf("unknown argument %q", f.Arg(0))
	}
	if s.version != flinksim.Flink23 && s.version != flinksim.Flink120 {
		return s, fmt.Errorf("--flink %q: known are %s, %s", s.version, flinksim.Flink23, flinksim.Flink120)
	}
	if s.slots == 0 {
		s.slots = 16 * max(1, s.jobs)
	}
	return s, nil
}

// loads are the words for the usual shapes.
func loads(word string) string {
	switch word {
	case "wave":
		return "wave:500..4500@2m"
	case "steps":
		return "steps:500x1m,3500x3m,1000"
	case "const":
		return "const:1500"
	}
	return word
}

func run(ctx context.Context, args []string, out io.Writer) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	load, err := flinksim.ParseLoad(loads(s.load))
	if err != nil {
		return err
	}
	c := flinksim.New(flinksim.Options{
		Version: s.version, Addr: "127.0.0.1:" + strconv.Itoa(s.port), Slots: s.slots, SlotsPerTaskManager: max(4, s.slots/16),
		FetchInterval: s.fetch, GaugeSpan: s.gauges, CacheTime: s.cache, Cooldown: s.cooldown, Downtime: s.down, CheckpointInterval: s.check,
	})
	defer c.Close()
	for i := range s.jobs {
		if _, err := c.Submit(job(s, load, i)); err != nil {
			return err
		}
	}
	url, err := c.Start()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n", url)
	<-ctx.Done()
	return nil
}

// job makes the i-th job; waves of several jobs are not in step.
func job(s settings, load flinksim.Load, i int) flinksim.JobSpec {
	name := s.name
	if s.jobs > 1 {
		name += "-" + strconv.Itoa(i)
	}
	if w, isWave := load.(flinksim.Wave); isWave && s.jobs > 1 {
		w.Phase += float64(i) / float64(s.jobs)
		load = w
	}
	vertices := flinksim.DefaultVertices()
	vertices[1].Parallelism = s.parallelism
	return flinksim.JobSpec{Name: name, Load: load, Vertices: vertices}
}
