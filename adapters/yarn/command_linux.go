package yarn

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
)

// starter starts processes from one thread that lives as long as the program: the
// kernel kills a child when the thread that started it ends, and Go ends threads as
// it likes.
var starter = sync.OnceValue(func() chan<- starting { //nolint:gochecknoglobals // one thread for the whole program is the point
	requests := make(chan starting)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread must stay
		for r := range requests {
			r.result <- r.cmd.Start()
		}
	}()
	return requests
})

type starting struct {
	cmd    *exec.Cmd
	result chan error
}

// spawn starts a command that ends with this program, even when that is killed.
func spawn(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	r := starting{cmd: cmd, result: make(chan error, 1)}
	starter() <- r
	return <-r.result
}

// killGroup kills a process and those it started.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// sweep kills what earlier workers on this machine left of a submission, and returns
// when none of it is there any more. Processes of other users cannot be seen.
func sweep(jobID string) {
	for range 50 {
		left := marksOf(jobID)
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		runtime.Gosched()
	}
}

// marksOf are the processes whose environment bears the marker of a submission.
func marksOf(jobID string) []int {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	var out []int
	for _, file := range files {
		env, err := os.ReadFile(file) //nolint:gosec // a path of /proc
		if err != nil {
			continue
		}
		for v := range bytes.SplitSeq(env, []byte{0}) {
			if string(v) != marker+"="+jobID {
				continue
			}
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && pid != os.Getpid() {
				out = append(out, pid)
			}
		}
	}
	return out
}
