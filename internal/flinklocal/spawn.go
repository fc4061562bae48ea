package flinklocal

import (
	"os/exec"
	"runtime"
)

// spawner starts processes from one operating system thread that lives as long as they do.
//
// On Linux a child asks the kernel to be killed when its parent dies (see attributes). "Parent" there means the thread
// that started it, and Go ends threads as it likes, so a child started from any goroutine could be killed at any time.
// A goroutine locked to its thread keeps that thread; all starts go through it.
type spawner struct {
	starts chan start
}

type start struct {
	cmd    *exec.Cmd
	result chan error
}

func newSpawner() *spawner {
	s := &spawner{starts: make(chan start)}
	go s.run()
	return s
}

func (s *spawner) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread() // gives the thread back alive
	for request := range s.starts {
		request.result <- request.cmd.Start()
	}
}

// start starts a command. It must not be called after close.
func (s *spawner) start(cmd *exec.Cmd) error {
	request := start{cmd: cmd, result: make(chan error, 1)}
	s.starts <- request
	return <-request.result
}

// close ends the thread. Children that still run may be killed by it.
func (s *spawner) close() { close(s.starts) }
