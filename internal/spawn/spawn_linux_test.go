package spawn_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"flinkscaler/internal/spawn"
)

// helperEnv makes this test binary the parent in TestAChildDiesWithItsParent.
const helperEnv = "SPAWN_TEST_PARENT"

// TestAChildDiesWithItsParent: only Linux tells a child of its parent's death.
func TestAChildDiesWithItsParent(t *testing.T) {
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
	pid := readChild(t, output)
	if gone(pid) {
		t.Fatal("the child did not outlive its parent's threads")
	}
	must(t, parent.Process.Signal(syscall.SIGKILL))
	_ = parent.Wait() // it was killed
	awaitGone(t, pid)
}

// beParent starts a child, ends some threads, says the child's id and waits to
// be killed.
func beParent(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	must(t, spawn.Start(cmd))
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
