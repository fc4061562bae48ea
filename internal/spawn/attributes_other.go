//go:build !linux

package spawn

import "syscall"

// attributes gives a child a process group of its own. Only Linux can tie its
// life to the parent's; elsewhere a killed parent leaves it behind.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
