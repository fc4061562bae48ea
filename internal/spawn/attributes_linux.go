package spawn

import "syscall"

// attributes puts a child into a process group of its own, so that an
// interrupt typed at a terminal reaches the parent alone and children end in
// order, and lets the kernel kill it when the parent dies, even by SIGKILL.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
