//go:build !linux

package yarn

import (
	"os/exec"
	"syscall"
)

// spawn starts a command in a process group of its own. Only on Linux it ends with
// this program.
func spawn(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd.Start()
}

// killGroup kills a process and those it started.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// sweep can find nothing here: earlier calls are waited for as if they were elsewhere.
func sweep(string) {}

func marksOf(string) []int { return nil }
