package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"flinkscaler/internal/connect/connecttest"
)

// asMain makes the test binary behave as the worker.
const asMain = "FLINKSCALER_WORKER_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asMain) != "" {
		main()
	}
	os.Exit(m.Run())
}

func writeFile(file, text string) error { return os.WriteFile(file, []byte(text), 0o600) }

// startProcess starts the worker as a process of its own, works until the
// given line is logged.
func startProcess(t *testing.T, address, line string) (*exec.Cmd, *output) {
	t.Helper()
	log := &output{}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "--config", put(t, "w.yaml", smallest), "--http", "off") //nolint:gosec // this binary
	cmd.Env = append(os.Environ(), asMain+"=1", "TEMPORAL_ADDRESS="+address)
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, line+" in the log", func() bool { return strings.Contains(log.String(), line) })
	return cmd, log
}

func TestSignals(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]os.Signal{"SIGTERM": syscall.SIGTERM, "SIGINT": os.Interrupt} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := (&connecttest.Server{Namespaces: []string{"default"}}).Start(t)
			cmd, log := startProcess(t, address, "working")
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v after %s, want 0:\n%s", err, name, log)
			}
		})
	}
}

// TestSecondSignal: who does not want to wait need not.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	defer close(hold)
	address := (&connecttest.Server{Namespaces: []string{"default"}, HoldShutdown: hold}).Start(t)
	cmd, log := startProcess(t, address, "working")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	until(t, "it is stopping", func() bool { return strings.Contains(log.String(), "stopping") })
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var ended *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &ended) || ended.ExitCode() != exitFailed {
		t.Errorf("error is %v, want exit code %d:\n%s", err, exitFailed, log)
	}
	if !strings.Contains(log.String(), "ended at once by a second signal (terminated)") {
		t.Errorf("it does not say why it ended:\n%s", log)
	}
}
