package hadoop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"flinkscaler/internal/child"
)

// Daemon is one server. It can be killed, frozen and started again; its methods may be called from any goroutine.
type Daemon struct {
	child   *child.Process
	timeout time.Duration
	// ready looks once whether the server does its work.
	ready func(ctx context.Context) (state string, ok bool)
}

// Name is "namenode-nn1", "datanode", "resourcemanager-rm1", "nodemanager" or "zookeeper".
func (d *Daemon) Name() string { return d.child.Name() }

// PID is the process id of the present run, or of the last one.
func (d *Daemon) PID() int { return d.child.PID() }

// Alive reports whether the server runs; a frozen one does.
func (d *Daemon) Alive() bool { return d.child.Alive() }

// Log is the log file of the present run, or of the last one.
func (d *Daemon) Log() string { return d.child.Log() }

// Tail is the end of the log, for error texts.
func (d *Daemon) Tail() string { return d.child.Tail() }

// Kill ends the server as a crash would (SIGKILL, also when it is frozen), and returns when it is gone. Killing one that is
// gone does nothing. A NodeManager leaves its containers running.
func (d *Daemon) Kill() error { return d.child.Kill() }

// Freeze stops the server in its tracks (SIGSTOP): it keeps its connections and answers nothing, like a hung machine.
func (d *Daemon) Freeze() error { return d.child.Freeze() }

// Thaw lets a frozen server go on (SIGCONT).
func (d *Daemon) Thaw() error { return d.child.Thaw() }

// Launch starts the server again after it has ended, and does not wait for it. See WaitReady.
func (d *Daemon) Launch() error { return d.child.Launch() }

// Restart kills the server if it is alive, starts it again with the same addresses, and returns when it does its work.
func (d *Daemon) Restart(ctx context.Context) error {
	if err := d.Kill(); err != nil {
		return fmt.Errorf("restart %s: %w", d.Name(), err)
	}
	if err := d.child.Launch(); err != nil {
		return fmt.Errorf("restart %s: %w", d.Name(), err)
	}
	if err := d.WaitReady(ctx); err != nil {
		return fmt.Errorf("restart %s: %w", d.Name(), err)
	}
	return nil
}

// WaitReady waits until the server does its work. It fails at once when the server ends.
func (d *Daemon) WaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	err := child.WaitFor(ctx, d.Name(), func(ctx context.Context) (string, bool, error) {
		if !d.Alive() {
			return "", false, d.died()
		}
		state, ok := d.ready(ctx)
		return state, ok, nil
	})
	if err != nil && d.Alive() {
		return fmt.Errorf("%w\n%s", err, d.Tail())
	}
	return err
}

// errPortTaken says that somebody took a port between its choice and the server that wanted it.
var errPortTaken = errors.New("port taken by another program")

// died tells a port that was taken meanwhile from other reasons: with other ports, the former goes away.
func (d *Daemon) died() error {
	for _, sign := range []string{"BindException", "Address already in use"} {
		if d.child.Wrote(sign) {
			return fmt.Errorf("%s ended: %w\n%s", d.Name(), errPortTaken, d.Tail())
		}
	}
	return fmt.Errorf("%s ended with exit code %d\n%s", d.Name(), d.child.ExitCode(), d.Tail())
}
