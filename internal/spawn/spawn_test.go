package spawn_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"flinkscaler/internal/child"
	"flinkscaler/internal/spawn"
)

// TestAGroupOfItsOwn: an interrupt typed at a terminal reaches the parent alone, and
// what the child starts is killed with it.
func TestAGroupOfItsOwn(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("/bin/sh", "-c", `sleep 1000 & echo "child $!"; wait`)
	output, err := cmd.StdoutPipe()
	must(t, err)
	must(t, spawn.Start(cmd))
	grandchild := readChild(t, output)
	group, err := syscall.Getpgid(cmd.Process.Pid)
	must(t, err)
	if group != cmd.Process.Pid {
		t.Errorf("the child is in group %d; want its own, %d", group, cmd.Process.Pid)
	}
	spawn.KillGroup(cmd.Process.Pid)
	_ = cmd.Wait() // it was killed
	if code := cmd.ProcessState.ExitCode(); code != -1 {
		t.Errorf("the child ended with code %d; want by a signal", code)
	}
	awaitGone(t, grandchild)
	spawn.KillGroup(cmd.Process.Pid) // once more is no problem
}

func TestWhatCannotBeStarted(t *testing.T) {
	t.Parallel()
	if err := spawn.Start(exec.Command(t.TempDir() + "/nothing")); err == nil {
		t.Error("no error")
	}
}

func readChild(t *testing.T, output io.Reader) int {
	t.Helper()
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if text, found := strings.CutPrefix(lines.Text(), "child "); found {
			pid, err := strconv.Atoi(text)
			must(t, err)
			return pid
		}
	}
	t.Fatal("no child was named")
	return 0
}

func awaitGone(t *testing.T, pid int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must(t, child.WaitFor(ctx, "the child to die", func(context.Context) (string, bool, error) { return "alive", gone(pid), nil }))
}

// gone is true for a zombie too: nobody may be there to collect an orphan.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := bytes.Cut(stat, []byte(") "))
	return err != nil || bytes.HasPrefix(after, []byte("Z"))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
