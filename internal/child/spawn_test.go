package child

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// helperEnv makes this test binary the parent in TestAChildDiesWithItsParent.
const helperEnv = "CHILD_TEST_PARENT"

func TestAChildDiesWithItsParent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells a child of its parent's death")
	}
	if os.Getenv(helperEnv) != "" {
		beParent(t)
		return
	}
	t.Parallel()
	parent := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAChildDiesWithItsParent$", "-test.v")
	parent.Env = append(os.Environ(), helperEnv+"=1")
	output, err := parent.StdoutPipe()
	must(t, err)
	must(t, parent.Start())
	child := readChild(t, bufio.NewScanner(output))
	if gone(child) {
		t.Fatal("the child did not outlive its parent's threads")
	}
	must(t, parent.Process.Signal(syscall.SIGKILL))
	_ = parent.Wait() // it was killed
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, WaitFor(ctx, "the child to die", func(context.Context) (string, bool, error) { return "alive", gone(child), nil }))
}

// beParent starts a child, ends some threads, says the child's id and waits to
// be killed.
func beParent(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	must(t, Spawn(cmd))
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
			must(t, err)
			return pid
		}
	}
	t.Fatal("the parent named no child")
	return 0
}

// gone is true for a zombie too: nobody may be there to collect an orphan.
func gone(pid int) bool {
	state := stateOf(pid)
	return state == "" || state == "Z"
}

// TestAnInterruptReachesTheParentAlone: a child is in a process group of its
// own.
func TestAnInterruptReachesTheParentAlone(t *testing.T) {
	t.Parallel()
	p := shell(t, "exec sleep 1000")
	must(t, p.Launch())
	group, err := syscall.Getpgid(p.PID())
	must(t, err)
	if group != p.PID() {
		t.Errorf("the child is in group %d; want its own, %d", group, p.PID())
	}
}
