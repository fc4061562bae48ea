package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// killWait bounds the wait for a killed process to be gone: the kernel needs
// milliseconds.
const killWait = 30 * time.Second

// tailLines is how much of a log an error shows.
const tailLines = 40

// Command says what to run.
type Command struct {
	// Name is for people and for the log file's name.
	Name string
	Path string
	Args []string
	// Env is added to this program's environment.
	Env []string
	// Dir is the working folder, LogDir where the output goes.
	Dir, LogDir string
}

// Process is a program that can be killed and started again. Its methods may
// be called from any goroutine.
type Process struct {
	command Command

	mu   sync.Mutex
	cmd  *exec.Cmd
	log  string
	done chan struct{}
	runs int
}

// Start starts a program and does not wait for it to be ready.
func Start(c Command) (*Process, error) {
	p := &Process{command: c}
	return p, p.Launch()
}

// Launch starts the program again after it has ended.
func (p *Process) Launch() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done != nil && !closed(p.done) {
		return fmt.Errorf("start %s: it still runs", p.command.Name)
	}
	p.runs++
	path := filepath.Join(p.command.LogDir, fmt.Sprintf("%s-run%d.log", p.command.Name, p.runs))
	out, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("start %s: %w", p.command.Name, err)
	}
	defer func() { _ = out.Close() }() // the child has its own handle
	cmd := exec.Command(p.command.Path, p.command.Args...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = out, out, p.command.Dir
	cmd.Env = append(os.Environ(), p.command.Env...)
	if err := Spawn(cmd); err != nil {
		return fmt.Errorf("start %s: %w", p.command.Name, err)
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait() // ExitCode tells how it ended
		close(done)
	}()
	p.cmd, p.log, p.done = cmd, path, done
	return nil
}

// PID is the process id of the newest run.
func (p *Process) PID() int { return p.latest().Process.Pid }

// Log is the log file of the newest run.
func (p *Process) Log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log
}

// Done is closed when the newest run has ended.
func (p *Process) Done() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done
}

// Alive reports whether it runs; a frozen one does.
func (p *Process) Alive() bool { return !closed(p.Done()) }

// ExitCode is how the newest run ended, -1 for by a signal or not yet.
func (p *Process) ExitCode() int {
	if p.Alive() {
		return -1
	}
	return p.latest().ProcessState.ExitCode()
}

// Signal sends a signal; a program that is gone takes none.
func (p *Process) Signal(s syscall.Signal) error {
	err := p.latest().Process.Signal(s)
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %s: %w", p.command.Name, err)
	}
	return nil
}

// Kill ends it as a crash would, and returns when it is gone.
func (p *Process) Kill() error {
	if err := p.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	select {
	case <-p.Done():
		return nil
	case <-time.After(killWait):
		return fmt.Errorf("kill %s: still there after %s", p.command.Name, killWait)
	}
}

// Stop asks it to end and waits, until ctx ends; then it is killed.
func (p *Process) Stop(ctx context.Context) error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.Done():
		return nil
	case <-ctx.Done():
		return p.Kill()
	}
}

// Tail is the end of the newest log, for error texts.
func (p *Process) Tail() string {
	content, err := os.ReadFile(p.Log())
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	return fmt.Sprintf("end of %s:\n  %s", filepath.Base(p.Log()), strings.Join(lines, "\n  "))
}

func (p *Process) latest() *exec.Cmd {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
