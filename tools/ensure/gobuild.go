package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"flinkscaler/internal/toolcache"
)

// goTarget is a program built from a module of its own under tools/, so that its dependencies never meet ours.
type goTarget struct {
	e       *ensurer
	program string
	module  string // its folder under tools/; program when empty
	version string
	pkg     string
	flags   []string // of go build
	place   string
	usually string
	find    func(ctx context.Context) (string, error)
}

func (e *ensurer) temporal() target {
	return goTarget{
		e: e, program: "temporal", version: toolcache.TemporalVersion,
		pkg:     "github.com/temporalio/cli/cmd/temporal",
		flags:   []string{stripped},
		place:   e.cache.Temporal(),
		usually: "2 to 12 minutes",
		find:    e.cache.FindTemporal,
	}
}

func (e *ensurer) tctl() target {
	return goTarget{
		e: e, program: "tctl", version: toolcache.TctlVersion,
		pkg:     "github.com/temporalio/tctl/cmd/tctl",
		flags:   []string{stripped},
		place:   e.cache.Tctl(),
		usually: "1 to 6 minutes",
		find:    func(context.Context) (string, error) { return e.cache.FindTctl() },
	}
}

// stripped leaves out symbols that only a debugger would read.
const stripped = "-ldflags=-s -w"

func (t goTarget) name() string { return t.program }

func (t goTarget) have(ctx context.Context) (string, bool) {
	path, err := t.find(ctx)
	return path, err == nil
}

func (t goTarget) needs() []prerequisite { return []prerequisite{needGo()} }

func (t goTarget) intro() string {
	return fmt.Sprintf("building version %s from source; usually %s on two cores, once", t.version, t.usually)
}

func (t goTarget) make(ctx context.Context, task *task) error {
	task.watch(func() string { return "downloading modules" })
	total, err := t.countPackages(ctx)
	if err != nil {
		return err
	}
	return t.build(ctx, task, total)
}

// countPackages also downloads the modules, so that the count of compiled packages starts with the compiler.
func (t goTarget) countPackages(ctx context.Context) (int, error) {
	output, err := t.e.toolOutput(ctx, t.goCommand(nil, "list", "-deps", t.pkg))
	if err != nil {
		return 0, fmt.Errorf("list packages (needs the Go module proxy; run it again when it answers): %w", err)
	}
	return strings.Count(output, "\n"), nil
}

// build compiles beside the final place and moves the program there when it is whole.
func (t goTarget) build(ctx context.Context, task *task, total int) error {
	if err := os.MkdirAll(filepath.Dir(t.place), 0o755); err != nil {
		return err
	}
	unfinished := t.place + ".unfinished" // the lock is ours: nobody else writes it
	defer func() { _ = os.Remove(unfinished) }()

	var compiled atomic.Int64
	task.watch(func() string {
		// Packages that Go has in its build cache are never announced, hence "at most".
		return fmt.Sprintf("compiled %d of at most %d packages", compiled.Load(), total)
	})
	count := func(string) { compiled.Add(1) }
	args := append([]string{"build", "-v", "-trimpath"}, t.flags...)
	err := t.e.runTool(ctx, t.goCommand(count, append(args, "-o", unfinished, t.pkg)...))
	if err != nil {
		return fmt.Errorf("%w\nto see all of it, run it again with -v", err)
	}
	return os.Rename(unfinished, t.place)
}

// goCommand fixes what could make two machines build different things: a C compiler, flags of the user, a workspace,
// and version stamping, which needs the git history around it.
func (t goTarget) goCommand(line func(string), args ...string) command {
	return command{
		dir:  filepath.Join(t.e.root, "tools", cmp.Or(t.module, t.program)),
		env:  []string{"CGO_ENABLED=0", "GOFLAGS=-buildvcs=false", "GOWORK=off"},
		args: append([]string{"go"}, args...),
		line: line,
	}
}
