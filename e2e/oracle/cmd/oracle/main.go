// Command oracle compares our strategy with the Java autoscaler on random jobs, and says how often the two differ. See
// package oracle; `make e2e-oracle` builds what it needs first.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"flinkscaler/core/policy"
	"flinkscaler/e2e/oracle"
)

func main() {
	var s oracle.Settings
	flag.Uint64Var(&s.Seed, "seed", oracle.DefaultSeed, "makes the cases")
	flag.IntVar(&s.Cases, "cases", oracle.LeastCases, "how many")
	flag.IntVar(&s.Only, "only", -1, "the number of a single case to run")
	quirks := flag.Int("trace", -1, "tell the single case cycle by cycle, with these switches on as a number: 0 for none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *quirks >= 0 && s.Only >= 0 {
		if err := oracle.Trace(s, policy.Quirk(*quirks)&policy.AllQuirks, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "oracle:", err)
		}
		return
	}
	report, err := oracle.Run(ctx, s)
	if err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		stop()
		os.Exit(1)
	}
	report.Write(os.Stdout, s)
	if report.Failed() {
		stop()
		os.Exit(1)
	}
}
