package flinklocal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"flinkscaler/internal/child"
)

// Process is one JVM of a cluster. It can be killed, stopped and started again; its methods may be called from any
// goroutine.
type Process struct {
	child   *child.Process
	url     string
	timeout time.Duration
	// ready looks once whether the process does its work.
	ready readiness
}

type readiness func(ctx context.Context, p *child.Process) (state string, ok bool)

// Name is "jobmanager-0", "taskmanager-1" or "zookeeper".
func (p *Process) Name() string { return p.child.Name() }

// URL is a JobManager's REST address, and empty for other processes.
func (p *Process) URL() string { return p.url }

// PID is the process id of the present run, or of the last one; 0 when there was none.
func (p *Process) PID() int { return p.child.PID() }

// LogFile is the log of the present run, or of the last one. Each run has its own.
func (p *Process) LogFile() string { return p.child.Log() }

// Alive reports whether the process runs. One that was stopped is alive.
func (p *Process) Alive() bool { return p.child.Alive() }

// Ended is closed when the present run has ended, by whatever cause.
func (p *Process) Ended() <-chan struct{} { return p.child.Done() }

// Kill ends the process as a crash would (SIGKILL, also when it is stopped), and returns when it is gone. Killing one
// that is gone does nothing.
func (p *Process) Kill() error { return p.child.Kill() }

// Stop freezes the process (SIGSTOP): it keeps its connections and answers nothing, like a hung machine.
func (p *Process) Stop() error { return p.child.Freeze() }

// Cont lets a stopped process go on (SIGCONT).
func (p *Process) Cont() error { return p.child.Thaw() }

// Tail is the end of the process's log and of its output, for error texts.
func (p *Process) Tail() string { return p.child.Tail() }

// Restart kills the process if it is alive, starts it again with the same addresses, and returns when it does its work:
// a JobManager answers, a TaskManager is registered. A TaskManager therefore needs a JobManager that answers.
func (p *Process) Restart(ctx context.Context) error {
	if err := p.Kill(); err != nil {
		return fmt.Errorf("restart %s: %w", p.Name(), err)
	}
	if err := p.child.Launch(); err != nil {
		return fmt.Errorf("restart %s: %w", p.Name(), err)
	}
	if err := p.await(ctx); err != nil {
		return fmt.Errorf("restart %s: %w", p.Name(), err)
	}
	return nil
}

// await waits until the process does its work. It fails at once when the process ends.
func (p *Process) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	err := child.WaitFor(ctx, p.Name(), func(ctx context.Context) (string, bool, error) {
		if !p.Alive() {
			return "", false, p.diedError()
		}
		state, ok := p.ready(ctx, p.child)
		return state, ok, nil
	})
	if err != nil && p.Alive() {
		return fmt.Errorf("%w\n%s", err, p.Tail())
	}
	return err
}

// errPortTaken says that somebody took a port between its choice and the process that wanted it.
var errPortTaken = errors.New("port taken by another program")

// diedError tells a port that was taken meanwhile from other reasons: with other ports, the former goes away.
func (p *Process) diedError() error {
	for _, sign := range []string{"BindException", "Address already in use", "on any port in port range"} {
		if p.child.Wrote(sign) {
			return fmt.Errorf("%s ended: %w\n%s", p.Name(), errPortTaken, p.Tail())
		}
	}
	return fmt.Errorf("%s ended\n%s", p.Name(), p.Tail())
}
