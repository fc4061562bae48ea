package flinklocal

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"flinkscaler/internal/child"
)

// fakeJava makes a script the java that processes start, for this test.
func fakeJava(t *testing.T, script string) {
	t.Helper()
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "bin", "java"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("JAVA_HOME", home)
}

// testProcess is ready when its log, the first argument, says "up".
func testProcess(t *testing.T) *Process {
	t.Helper()
	p := &Process{
		timeout: time.Minute,
		child: child.New(child.Command{
			Name: "fake", Path: javaCommand(), Dir: t.TempDir(), LogDir: t.TempDir(),
			LogArgs: func(file string) []string { return []string{file} },
		}),
		ready: func(_ context.Context, p *child.Process) (string, bool) { return "not up", p.Wrote("up\n") },
	}
	t.Cleanup(func() {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestProcessLives(t *testing.T) {
	fakeJava(t, `echo up > "$1"; exec sleep 1000`)
	p := testProcess(t)
	if p.Alive() || p.PID() != 0 {
		t.Error("alive before the first start")
	}
	if err := p.Kill(); err != nil {
		t.Errorf("kill before the first start: %v", err)
	}
	if err := p.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	first, firstLog := p.PID(), p.LogFile()
	if !p.Alive() {
		t.Error("not alive after the start")
	}
	if err := p.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.PID() == first || p.LogFile() == firstLog {
		t.Error("a restart is another process with a log of its own")
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Ended():
	default:
		t.Error("not ended after Kill")
	}
	for name, again := range map[string]func() error{"Kill": p.Kill, "Stop": p.Stop, "Cont": p.Cont} {
		if err := again(); err != nil {
			t.Errorf("%s of a process that is gone: %v", name, err)
		}
	}
}

func TestStoppedProcessCanBeKilled(t *testing.T) {
	fakeJava(t, `echo up > "$1"; exec sleep 1000`)
	p := testProcess(t)
	if err := p.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	if !p.Alive() {
		t.Error("a stopped process counts as dead")
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
}

func TestDeathWhileStartingIsExplained(t *testing.T) {
	cases := map[string]struct {
		reason string
		log    string
		port   bool
	}{
		"any reason": {"the log says why", "OutOfMemoryError: too big", false},
		"port":       {"other ports would help", "java.net.BindException: Address already in use", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fakeJava(t, `echo "`+tc.log+`"; exit 1`)
			err := testProcess(t).Restart(t.Context())
			if err == nil || !strings.Contains(err.Error(), tc.log) {
				t.Fatalf("%s: error %v; want the end of the log in it", tc.reason, err)
			}
			if errors.Is(err, errPortTaken) != tc.port {
				t.Errorf("%s: taken for a port problem: %v", tc.reason, !tc.port)
			}
		})
	}
}

func TestNothingStartsInAClosedCluster(t *testing.T) {
	fakeJava(t, `echo up > "$1"; exec sleep 1000`)
	p := testProcess(t)
	if err := p.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := &Cluster{http: &http.Client{}, taskManagers: []*Process{p}}
	if err := c.Close(); err != nil || p.Alive() {
		t.Fatalf("Close: %v; alive %v", err, p.Alive())
	}
	if err := p.Restart(t.Context()); err == nil || p.Alive() {
		t.Errorf("a process of a closed cluster was started: %v", err)
	}
	if _, err := c.AddTaskManager(t.Context()); err == nil || len(c.TaskManagers()) != 1 {
		t.Errorf("a closed cluster took one more: %v", err)
	}
}
