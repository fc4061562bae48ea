package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"flinkscaler/internal/toolcache"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "ensure:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("ensure", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "usage: ensure [-v] TARGET...\ntargets: %s\n", knownTargets)
		flags.PrintDefaults()
	}
	verbose := flags.Bool("v", false, "show the output of the tools that are run")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		flags.Usage()
		return errors.New("no target given")
	}
	e, err := newEnsurer(out, *verbose)
	if err != nil {
		return err
	}
	return e.ensure(ctx, flags.Args())
}

// ensurer carries what every target needs to be made.
type ensurer struct {
	cache   toolcache.Cache
	root    string // of the module, where tools/ is
	screen  screen
	verbose bool
}

func newEnsurer(out io.Writer, verbose bool) (*ensurer, error) {
	cache, err := toolcache.Open()
	if err != nil {
		return nil, err
	}
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	return &ensurer{cache: cache, root: root, screen: newScreen(out), verbose: verbose}, nil
}

// ensure makes the named targets one after another, in the given order.
func (e *ensurer) ensure(ctx context.Context, names []string) error {
	targets, err := e.targets(names)
	if err != nil {
		return err
	}
	var todo []target
	for _, t := range targets {
		if where, ok := t.have(ctx); ok {
			e.screen.line("%s: there (%s)", t.name(), where)
			continue
		}
		todo = append(todo, t)
	}
	if err := checkPrerequisites(ctx, todo); err != nil {
		return err
	}
	for _, t := range todo {
		if err := e.makeLocked(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// makeLocked makes a target, unless another run made it while this one waited for the lock.
func (e *ensurer) makeLocked(ctx context.Context, t target) error {
	unlock, err := e.lock(ctx, t.name())
	if err != nil {
		return fmt.Errorf("lock %s: %w", t.name(), err)
	}
	defer unlock()
	if where, ok := t.have(ctx); ok {
		e.screen.line("%s: there (%s)", t.name(), where)
		return nil
	}
	task := e.screen.begin(t.name(), t.intro())
	if err := t.make(ctx, task); err != nil {
		task.fail()
		return fmt.Errorf("make %s: %w", t.name(), err)
	}
	task.done()
	return nil
}

// moduleRoot walks up from the working directory to the checkout that holds the nested modules of tools/.
func moduleRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "tools", "temporal", "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("find checkout above %s: no tools/temporal/go.mod; run it inside the checkout", start)
		}
	}
}
