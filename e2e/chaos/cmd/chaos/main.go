// Command chaos injects faults into rescales on a real or a simulated Flink, and
// says what came of them. See package chaos; `make chaos` fetches what it needs
// first.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"flinkscaler/e2e/chaos"
)

func main() { os.Exit(run()) }

func run() int {
	s := chaos.Settings{Out: os.Stdout}
	flag.Uint64Var(&s.Seed, "seed", uint64(time.Now().Unix()), "makes the plan; by default another one each time")
	flag.IntVar(&s.Faults, "faults", 200, "how many")
	flag.BoolVar(&s.Simulated, "simulated", false, "a simulated Flink in place of a real one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	report, err := within(ctx, s)
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		return 1
	}
	report.Write(os.Stdout)
	if report.Failed() {
		return 1
	}
	return 0
}

// within runs in a folder that stays only when something is wrong.
func within(ctx context.Context, s chaos.Settings) (chaos.Report, error) {
	var err error
	if s.Dir, err = os.MkdirTemp("", "flinkscaler-chaos-"); err != nil {
		return chaos.Report{}, err
	}
	fmt.Printf("chaos: seed %d, building the worker twice, data and logs in %s\n", s.Seed, s.Dir)
	if s.Builds, err = chaos.Build(ctx, s.Dir); err != nil {
		return chaos.Report{}, err
	}
	report, err := chaos.Run(ctx, s)
	if err == nil && !report.Failed() {
		err = os.RemoveAll(s.Dir)
	}
	return report, err
}
