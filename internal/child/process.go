package child

import (
	"bytes"
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

	"flinkscaler/internal/spawn"
)

// killWait bounds the wait for a killed process to be gone. The kernel needs
// milliseconds, unless the process is stuck in a disk that does not answer.
const killWait = 30 * time.Second

// tailLines is how much of a log an error shows: a stack trace with its cause.
const tailLines = 40

// Command says what to run.
type Command struct {
	// Name is for people and for the names of log files.
	Name string
	Path string
	Args []string
	// LogArgs, unless nil, gives arguments, put before Args, that make the
	// program write a log of its own to a file, beside its output.
	LogArgs func(file string) []string
	// Env is added to this program's environment.
	Env []string
	// Dir is the working folder, LogDir where output and log go.
	Dir, LogDir string
}

// Process is a program that can be killed and started again. Its methods may
// be called from any goroutine.
type Process struct {
	command Command

	mu      sync.Mutex
	current *run
	runs    int
	retired bool
}

// run is one life of a process.
type run struct {
	cmd    *exec.Cmd // nil before the first start
	output string
	log    string // empty when the program has none of its own
	ended  chan struct{}
}

// New makes a process without starting it.
func New(c Command) *Process {
	never := &run{ended: make(chan struct{})}
	close(never.ended)
	return &Process{command: c, current: never}
}

// Start starts a program and does not wait for it to be ready.
func Start(c Command) (*Process, error) {
	p := New(c)
	return p, p.Launch()
}

// Launch starts the program for the first time, or again after it has ended.
func (p *Process) Launch() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.launch(); err != nil {
		return fmt.Errorf("start %s: %w", p.command.Name, err)
	}
	return nil
}

func (p *Process) launch() error {
	if p.retired {
		return errors.New("it was ended for good")
	}
	if p.current.alive() {
		return errors.New("it still runs")
	}
	p.runs++
	r := &run{output: p.file("out"), ended: make(chan struct{})}
	args := p.command.Args
	if p.command.LogArgs != nil {
		r.log = p.file("log")
		args = append(p.command.LogArgs(r.log), args...)
	}
	out, err := os.Create(r.output)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }() // the child has its own handle
	r.cmd = exec.Command(p.command.Path, args...)
	r.cmd.Stdout, r.cmd.Stderr, r.cmd.Dir = out, out, p.command.Dir
	r.cmd.Env = append(os.Environ(), p.command.Env...)
	if err := spawn.Start(r.cmd); err != nil {
		return err
	}
	go func() {
		_ = r.cmd.Wait() // ExitCode tells how it ended
		close(r.ended)
	}()
	p.current = r
	return nil
}

func (p *Process) file(kind string) string {
	return filepath.Join(p.command.LogDir, fmt.Sprintf("%s-run%d.%s", p.command.Name, p.runs, kind))
}

// Name is that of the command.
func (p *Process) Name() string { return p.command.Name }

// PID is the process id of the newest run, 0 when there was none.
func (p *Process) PID() int {
	if cmd := p.latest().cmd; cmd != nil {
		return cmd.Process.Pid
	}
	return 0
}

// Log is the newest run's log: its own if the program has one, else its
// output.
func (p *Process) Log() string {
	r := p.latest()
	if r.log != "" {
		return r.log
	}
	return r.output
}

// Done is closed when the newest run has ended, and before the first one.
func (p *Process) Done() <-chan struct{} { return p.latest().ended }

// Alive reports whether it runs; a frozen one does.
func (p *Process) Alive() bool { return p.latest().alive() }

// ExitCode is how the newest run ended: -1 for by a signal, or not yet.
func (p *Process) ExitCode() int {
	r := p.latest()
	if r.alive() || r.cmd == nil {
		return -1
	}
	return r.cmd.ProcessState.ExitCode()
}

// Signal sends a signal; a program that is gone, or was never started, takes
// none.
func (p *Process) Signal(s syscall.Signal) error {
	if err := p.latest().signal(s); err != nil {
		return fmt.Errorf("send %s to %s: %w", s, p.command.Name, err)
	}
	return nil
}

// Freeze stops it in its tracks (SIGSTOP): it keeps its connections and
// answers nothing, like a hung machine.
func (p *Process) Freeze() error { return p.Signal(syscall.SIGSTOP) }

// Thaw lets a frozen one go on (SIGCONT).
func (p *Process) Thaw() error { return p.Signal(syscall.SIGCONT) }

// Kill ends it as a crash would (SIGKILL, also when it is frozen), and returns
// when it is gone. Killing one that is gone does nothing.
func (p *Process) Kill() error { return p.kill(p.latest()) }

func (p *Process) kill(r *run) error {
	if err := r.signal(syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill %s: %w", p.command.Name, err)
	}
	select {
	case <-r.ended:
		return nil
	case <-time.After(killWait):
		return fmt.Errorf("kill %s: still there after %s", p.command.Name, killWait)
	}
}

// Stop asks it to end (SIGTERM) and waits, until ctx ends; then it is killed.
func (p *Process) Stop(ctx context.Context) error {
	r := p.latest()
	if err := r.signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop %s: %w", p.command.Name, err)
	}
	select {
	case <-r.ended:
		return nil
	case <-ctx.Done():
		return p.kill(r)
	}
}

// End kills it for good: it cannot be started again.
func (p *Process) End() error {
	p.mu.Lock()
	p.retired = true
	p.mu.Unlock()
	return p.Kill()
}

// Wrote reports whether the newest run has written a text to its log or its
// output.
func (p *Process) Wrote(text string) bool { return p.Count(text) > 0 }

// Count is how often the newest run's log or output has the text.
func (p *Process) Count(text string) int {
	n := 0
	for _, file := range p.latest().files() {
		if content, err := os.ReadFile(file); err == nil {
			n += bytes.Count(content, []byte(text))
		}
	}
	return n
}

// Tail is the end of the newest run's log and output, for error texts. Files
// that are empty are left out.
func (p *Process) Tail() string {
	var ends []string
	for _, file := range p.latest().files() {
		content, err := os.ReadFile(file)
		text := strings.TrimSpace(string(content))
		if err != nil || text == "" {
			continue
		}
		lines := strings.Split(text, "\n")
		if len(lines) > tailLines {
			lines = lines[len(lines)-tailLines:]
		}
		ends = append(ends, fmt.Sprintf("end of %s:\n  %s", filepath.Base(file), strings.Join(lines, "\n  ")))
	}
	return strings.Join(ends, "\n")
}

func (p *Process) latest() *run {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current
}

func (r *run) alive() bool {
	select {
	case <-r.ended:
		return false
	default:
		return true
	}
}

func (r *run) files() []string {
	if r.log == "" {
		return []string{r.output}
	}
	return []string{r.log, r.output}
}

func (r *run) signal(s syscall.Signal) error {
	if r.cmd == nil {
		return nil
	}
	if err := r.cmd.Process.Signal(s); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}
