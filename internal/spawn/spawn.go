package spawn

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// starter starts processes from one operating system thread that lives as long
// as the program. On Linux a child asks the kernel to be killed when its parent
// dies (see attributes). "Parent" there means the thread that started it, and
// Go ends threads as it likes, so a child started from any goroutine could be
// killed at any time.
var starter = sync.OnceValue(func() chan<- request { //nolint:gochecknoglobals // one thread for the whole program is the point
	requests := make(chan request)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread must stay
		for r := range requests {
			r.result <- r.cmd.Start()
		}
	}()
	return requests
})

type request struct {
	cmd    *exec.Cmd
	result chan error
}

// Start starts cmd in a process group of its own, so that it ends with this program,
// even when that is killed. It replaces cmd.SysProcAttr.
func Start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = attributes()
	r := request{cmd: cmd, result: make(chan error, 1)}
	starter() <- r
	return <-r.result
}

// KillGroup kills a process that was started here, and what it started in its group. One
// that is gone is no problem.
func KillGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
