package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// lockPoll is how often a waiting run asks for the lock again. The system has no wait that a context could end.
const lockPoll = 200 * time.Millisecond

// lock takes the lock of a target for this process. The system drops it when the process dies, however it dies.
func (e *ensurer) lock(ctx context.Context, name string) (unlock func(), err error) {
	if err := os.MkdirAll(e.cache.Locks(), 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(e.cache.Locks(), strings.ReplaceAll(name, ":", "-"))
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := e.waitForLock(ctx, name, file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() { _ = file.Close() }, nil // closing drops the lock
}

func (e *ensurer) waitForLock(ctx context.Context, name string, file *os.File) error {
	if err := tryLock(file); !errors.Is(err, syscall.EWOULDBLOCK) {
		return err
	}
	task := e.screen.begin(name, "another run is making it; waiting for that one")
	task.watch(func() string { return "still waiting for the other run" })
	defer task.fail()
	poll := time.NewTicker(lockPoll)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-poll.C:
			if err := tryLock(file); !errors.Is(err, syscall.EWOULDBLOCK) {
				return err
			}
		}
	}
}

func tryLock(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
