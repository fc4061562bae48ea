package flinklocal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
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

// testProcess is ready when its log, the first argument, has a line.
func testProcess(t *testing.T) *Process {
	t.Helper()
	s := newSpawner()
	p := newProcess("fake", dependencies{
		start:   s.start,
		args:    func(logFile string) []string { return []string{logFile} },
		dir:     t.TempDir(),
		logDir:  t.TempDir(),
		timeout: time.Minute,
		ready: func(_ context.Context, p *Process) (string, bool) {
			return "no line in the log", fileContains(p.LogFile(), "\n")
		},
	})
	t.Cleanup(func() {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
		s.close()
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

func TestWaitSaysWhatItSaw(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	looks := 0
	err := waitFor(ctx, "the moon", func(context.Context) (string, bool, error) {
		looks++
		if looks == 2 { // what is seen with an ended context is not worth telling
			cancel()
			return "nothing to see", false, nil
		}
		return "a cloud", false, nil
	})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "wait for the moon") || !strings.HasSuffix(err.Error(), "last seen: a cloud") {
		t.Errorf("error %v", err)
	}
}

// helperEnv makes this test binary the parent in TestChildDiesWithItsParent.
const helperEnv = "FLINKLOCAL_TEST_PARENT"

func TestChildDiesWithItsParent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells a child of its parent's death")
	}
	if os.Getenv(helperEnv) != "" {
		beParent(t)
		return
	}
	t.Parallel()
	parent := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChildDiesWithItsParent$", "-test.v")
	parent.Env = append(os.Environ(), helperEnv+"=1")
	output, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	child := readChild(t, bufio.NewScanner(output))
	if gone(child) {
		t.Fatal("the child did not outlive its parent's threads")
	}
	if err := parent.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	err = waitFor(t.Context(), "the child to die", func(context.Context) (string, bool, error) {
		return "alive", gone(child), nil
	})
	if err != nil {
		t.Error(err)
	}
}

// beParent starts a child, ends some threads, says the child's id and waits to be killed.
func beParent(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = attributes()
	if err := newSpawner().start(cmd); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		ended := make(chan struct{})
		go func() {
			runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
			close(ended)
		}()
		<-ended
	}
	fmt.Printf("child %d\n", cmd.Process.Pid)
	<-t.Context().Done()
}

func readChild(t *testing.T, lines *bufio.Scanner) int {
	t.Helper()
	for lines.Scan() {
		if text, found := strings.CutPrefix(lines.Text(), "child "); found {
			pid, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
	}
	t.Fatal("the parent named no child")
	return 0
}

// gone is true for a zombie too: nobody may be there to collect an orphan.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ")
}
