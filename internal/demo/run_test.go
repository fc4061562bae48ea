//go:build integration

package demo

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"flinkscaler/internal/child"
)

// screen is where a demo writes to, read while it runs.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// TestTheDemoShowsBothDirections and ends when it is told to, with a summary
// as its last line and nothing left behind.
func TestTheDemoShowsBothDirections(t *testing.T) {
	worker := filepath.Join(t.TempDir(), "flinkscaler-worker")
	if out, err := exec.Command("go", "build", "-o", worker, "flinkscaler/worker").CombinedOutput(); err != nil {
		t.Fatalf("build the worker: %v\n%s", err, out)
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	const patience = 3 * time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out screen
	done := make(chan error, 1)
	go func() { done <- Run(ctx, Options{Worker: worker, Out: &out}) }()
	err := child.WaitFor(ctx, "a change in each direction", func(context.Context) (string, bool, error) {
		select {
		case err := <-done:
			return "", false, fmt.Errorf("it ended by itself: %w", err)
		default:
			return "less", strings.Contains(out.String(), "last rescale (2) applied"), nil
		}
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("it failed: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if last := lines[len(lines)-1]; !regexp.MustCompile(`^summary: scale_ups=[1-9]\d* scale_downs=[1-9]\d* holds=\d+ max_lag_s=\d+$`).MatchString(last) {
		t.Errorf("the last line is %q in\n%s", last, out.String())
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
