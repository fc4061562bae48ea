package flinklocal

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

// killWait bounds the wait for a killed process to be gone. The kernel needs milliseconds, unless the process is stuck
// in a disk that does not answer.
const killWait = 30 * time.Second

// tailLines is how much of a process's log an error shows: a Java stack trace with its cause.
const tailLines = 40

// Process is one JVM of a cluster. It can be killed, stopped and started again; its methods may be called from any
// goroutine.
type Process struct {
	name string
	url  string
	deps dependencies

	mu      sync.Mutex
	current *run
	runs    int
}

// dependencies are what a process needs of its cluster.
type dependencies struct {
	start   func(*exec.Cmd) error
	args    func(logFile string) []string // of java
	env     []string
	dir     string // working folder
	logDir  string
	timeout time.Duration
	// ready looks once whether the process does its work.
	ready func(ctx context.Context, p *Process) (state string, ok bool)
}

// run is one life of a process.
type run struct {
	cmd     *exec.Cmd // nil before the first start
	logFile string
	outFile string
	ended   chan struct{}
}

func newProcess(name string, deps dependencies) *Process {
	never := &run{ended: make(chan struct{})}
	close(never.ended)
	return &Process{name: name, deps: deps, current: never}
}

// Name is "jobmanager-0", "taskmanager-1" or "zookeeper".
func (p *Process) Name() string { return p.name }

// URL is a JobManager's REST address, and empty for other processes.
func (p *Process) URL() string { return p.url }

// PID is the process id of the present run, or of the last one; 0 when there was none.
func (p *Process) PID() int {
	if cmd := p.latest().cmd; cmd != nil {
		return cmd.Process.Pid
	}
	return 0
}

// LogFile is the log of the present run, or of the last one. Each run has its own.
func (p *Process) LogFile() string { return p.latest().logFile }

// Alive reports whether the process runs. One that was stopped is alive.
func (p *Process) Alive() bool {
	select {
	case <-p.latest().ended:
		return false
	default:
		return true
	}
}

// Ended is closed when the present run has ended, by whatever cause.
func (p *Process) Ended() <-chan struct{} { return p.latest().ended }

// Kill ends the process as a crash would (SIGKILL, also when it is stopped), and returns when it is gone. Killing one
// that is gone does nothing.
func (p *Process) Kill() error {
	r := p.latest()
	if err := r.signal(syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill %s: %w", p.name, err)
	}
	select {
	case <-r.ended:
		return nil
	case <-time.After(killWait):
		return fmt.Errorf("kill %s: still there after %s", p.name, killWait)
	}
}

// Stop freezes the process (SIGSTOP): it keeps its connections and answers nothing, like a hung machine.
func (p *Process) Stop() error {
	if err := p.latest().signal(syscall.SIGSTOP); err != nil {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	return nil
}

// Cont lets a stopped process go on (SIGCONT).
func (p *Process) Cont() error {
	if err := p.latest().signal(syscall.SIGCONT); err != nil {
		return fmt.Errorf("continue %s: %w", p.name, err)
	}
	return nil
}

// Restart kills the process if it is alive, starts it again with the same addresses, and returns when it does its work:
// a JobManager answers, a TaskManager is registered. A TaskManager therefore needs a JobManager that answers.
func (p *Process) Restart(ctx context.Context) error {
	if err := p.Kill(); err != nil {
		return fmt.Errorf("restart %s: %w", p.name, err)
	}
	if err := p.launch(); err != nil {
		return fmt.Errorf("restart %s: %w", p.name, err)
	}
	if err := p.await(ctx); err != nil {
		return fmt.Errorf("restart %s: %w", p.name, err)
	}
	return nil
}

// launch starts the JVM and does not wait for it.
func (p *Process) launch() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs++
	base := filepath.Join(p.deps.logDir, fmt.Sprintf("%s-run%d", p.name, p.runs))
	r := &run{logFile: base + ".log", outFile: base + ".out", ended: make(chan struct{})}
	out, err := os.Create(r.outFile)
	if err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	defer func() { _ = out.Close() }() // the child has its own handle
	r.cmd = exec.Command(javaCommand(), p.deps.args(r.logFile)...)
	r.cmd.Stdout, r.cmd.Stderr = out, out
	r.cmd.Dir = p.deps.dir
	r.cmd.Env = append(os.Environ(), p.deps.env...)
	r.cmd.SysProcAttr = attributes()
	if err := p.deps.start(r.cmd); err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	go func() {
		_ = r.cmd.Wait() // how it ended is in its log
		close(r.ended)
	}()
	p.current = r
	return nil
}

// await waits until the process does its work. It fails at once when the process ends.
func (p *Process) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.deps.timeout)
	defer cancel()
	err := waitFor(ctx, p.name, func(ctx context.Context) (string, bool, error) {
		if !p.Alive() {
			return "", false, p.diedError()
		}
		state, ok := p.deps.ready(ctx, p)
		return state, ok, nil
	})
	if err != nil && p.Alive() {
		return fmt.Errorf("%w\n%s", err, p.Tail())
	}
	return err
}

// diedError tells a port that was taken meanwhile from other reasons: with other ports, the former goes away.
func (p *Process) diedError() error {
	r := p.latest()
	for _, sign := range []string{"BindException", "Address already in use", "on any port in port range"} {
		if fileContains(r.logFile, sign) || fileContains(r.outFile, sign) {
			return fmt.Errorf("%s ended: %w\n%s", p.name, errPortTaken, p.Tail())
		}
	}
	return fmt.Errorf("%s ended\n%s", p.name, p.Tail())
}

// Tail is the end of the process's log and of its output, for error texts.
func (p *Process) Tail() string {
	r := p.latest()
	return tail(r.logFile) + tail(r.outFile)
}

// tail leaves out files that are empty or were never made.
func tail(path string) string {
	content, err := os.ReadFile(path)
	text := strings.TrimSpace(string(content))
	if err != nil || text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	return fmt.Sprintf("end of %s:\n  %s\n", filepath.Base(path), strings.Join(lines, "\n  "))
}

func fileContains(path, text string) bool {
	content, err := os.ReadFile(path)
	return err == nil && strings.Contains(string(content), text)
}

func (p *Process) latest() *run {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current
}

// signal does nothing to a process that is gone or was never there.
func (r *run) signal(sig syscall.Signal) error {
	if r.cmd == nil {
		return nil
	}
	err := r.cmd.Process.Signal(sig)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}
