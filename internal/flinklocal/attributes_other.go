//go:build unix && !linux

package flinklocal

import "syscall"

// attributes leaves a child in the parent's process group: without a signal at the parent's death, an interrupt typed at
// a terminal should at least reach the children too.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
