// Command flinkscaler-demo shows a Flink job being scaled by a Temporal
// workflow, on this machine alone; `make demo` runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/term"

	"flinkscaler/internal/demo"
	"flinkscaler/starter/view"
)

func main() { os.Exit(run()) }

func run() int {
	var o demo.Options
	flag.DurationVar(&o.For, "for", 0, "end by itself after this time, 0 for never")
	flag.StringVar(&o.Flink, "flink", "", "version of a real Flink from the cache, such as 2.3.0; empty for a simulated one")
	flag.StringVar(&o.Worker, "worker", beside("flinkscaler-worker"), "the worker's binary")
	flag.Parse()
	o.Out = os.Stdout
	o.View = screen()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := demo.Run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		return 1
	}
	return 0
}

// screen says how to draw on the standard output.
func screen() view.Options {
	fd := int(os.Stdout.Fd()) //nolint:gosec // a file descriptor is small
	if !term.IsTerminal(fd) {
		return view.Options{}
	}
	_, plain := os.LookupEnv("NO_COLOR")
	return view.Options{Terminal: true, Colour: view.Palette(!plain), Size: func() (int, int) {
		w, h, err := term.GetSize(fd)
		if err != nil {
			return 0, 0
		}
		return w, h
	}}
}

// beside gives the path of a program in this one's folder.
func beside(name string) string {
	self, err := os.Executable()
	if err != nil {
		return name
	}
	return filepath.Join(filepath.Dir(self), name)
}
