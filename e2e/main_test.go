//go:build integration || e2e

package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"flinkscaler/internal/toolcache"
)

// tools are the programs under test and those that operators use.
type tools struct{ worker, starter, temporal, tctl string }

var bin tools

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "flinkscaler-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if bin, err = prepare(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err = manyAtOnce(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err = closeShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// atOnce is how many tests run at a time unless -parallel says it: they wait
// far more than they compute, so more than there are processors.
const atOnce = "12"

func manyAtOnce() error {
	const name = "test.parallel"
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if given {
		return nil
	}
	return flag.Set(name, atOnce)
}

// prepare builds the programs under test and finds the others in the cache.
func prepare(dir string) (tools, error) {
	t := tools{worker: filepath.Join(dir, "flinkscaler-worker"), starter: filepath.Join(dir, "flinkscaler")}
	for out, pkg := range map[string]string{t.worker: "flinkscaler/worker", t.starter: "flinkscaler/starter"} {
		if b, err := exec.Command("go", "build", "-o", out, pkg).CombinedOutput(); err != nil {
			return t, fmt.Errorf("build %s: %w\n%s", pkg, err, b)
		}
	}
	cache, err := toolcache.Open()
	if err != nil {
		return t, err
	}
	if t.temporal, err = cache.FindTemporal(context.Background()); err != nil {
		return t, err
	}
	t.tctl, err = cache.FindTctl()
	return t, err
}
