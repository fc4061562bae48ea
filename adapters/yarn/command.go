package yarn

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"flinkscaler/internal/spawn"
)

// marker is the variable in the environment of a submission's processes by which
// another worker on this machine finds them. Its value is the job's id.
const marker = "FLINKSCALER_SUBMISSION"

// command is a program that submits an application.
type command struct {
	path  string
	args  []string
	env   []string
	jobID string
	// dir is its own folder for what it writes, removed when it has ended.
	dir string
}

// child is a command that was started: in a process group of its own, and on Linux
// one that ends with the worker, however that ends. It is only ever killed: asked to
// end, it would take the application with it.
type child struct {
	cmd    *exec.Cmd
	output *tail
	ended  chan struct{}
	// free is true once it may go on without whoever started it.
	free bool
}

// mostOutput is how much of its output is kept: a stack trace with its causes.
const mostOutput = 64 << 10

// start runs a command.
func (c command) start() (*child, error) {
	k := &child{cmd: exec.Command(c.path, c.args...), output: &tail{most: mostOutput}, ended: make(chan struct{})} //nolint:gosec,noctx // it is the configured program, and ends by kill
	k.cmd.Env = append(c.env, marker+"="+c.jobID)
	k.cmd.Dir = c.dir
	k.cmd.Stdout, k.cmd.Stderr = k.output, k.output
	k.cmd.WaitDelay = 5 * time.Second // a grandchild may keep the pipe
	if err := spawn.Start(k.cmd); err != nil {
		_ = os.RemoveAll(c.dir)
		return nil, fmt.Errorf("%s cannot be started: %w", c.path, err)
	}
	go func() {
		_ = k.cmd.Wait() // code tells how it ended
		_ = os.RemoveAll(c.dir)
		close(k.ended)
	}()
	return k, nil
}

// over is true once it has ended.
func (k *child) over() bool {
	if k == nil {
		return true
	}
	select {
	case <-k.ended:
		return true
	default:
		return false
	}
}

// code is how it ended, -1 for by a signal. It must be over.
func (k *child) code() int { return k.cmd.ProcessState.ExitCode() }

// kill ends it and all it started, and returns when it is gone.
func (k *child) kill() {
	if k.over() {
		return
	}
	spawn.KillGroup(k.cmd.Process.Pid)
	<-k.ended
}

// release kills it, unless it was let go.
func (k *child) release() {
	if k != nil && !k.free {
		k.kill()
	}
}

// letGo has it end by itself, for a while.
func (k *child) letGo(within time.Duration) {
	if k.over() {
		return
	}
	k.free = true
	go func() {
		select {
		case <-k.ended:
		case <-time.After(within):
			k.kill()
		}
	}()
}

// tail keeps the end of what is written to it.
type tail struct {
	most int
	mu   sync.Mutex
	b    []byte
}

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if n := len(t.b) - t.most; n > 0 {
		t.b = append(t.b[:0], t.b[n:]...)
	}
	return len(p), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.ToValidUTF8(t.b, []byte("?")))
}

// telling is what the output of Flink's command says in one line: the words of the
// innermost cause of the last exception, else its last line.
func telling(output string) string {
	last, cause := "", ""
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		switch {
		case line == "", strings.HasPrefix(line, "at "), strings.HasPrefix(line, "..."):
		case strings.HasPrefix(line, "Caused by: "):
			cause = message(strings.TrimPrefix(line, "Caused by: "))
		case strings.Contains(line, "Exception: "):
			cause = message(line)
		default:
			last = line
		}
	}
	if cause != "" {
		return cut(cause)
	}
	return cut(last)
}

// message takes Java's class names off a text.
func message(text string) string {
	for {
		class, rest, ok := strings.Cut(text, ": ")
		if !ok || strings.ContainsAny(class, " ") || !strings.Contains(class, ".") {
			return text
		}
		text = rest
	}
}

// inherited are the variables of the worker that the command gets: how to find Java
// and Hadoop, and who logs in. Credentials for others are not among them.
func inherited(name string) bool {
	switch name {
	case "PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR", "JAVA_HOME", "YARN_CONF_DIR", "KRB5_CONFIG", "KRB5CCNAME", "FLINK_CONF_DIR":
		return true
	}
	return strings.HasPrefix(name, "HADOOP_") && name != "HADOOP_CREDSTORE_PASSWORD"
}

// environment is that of the command: what is inherited, and over it what is given.
func environment(of []string, given map[string]string) []string {
	var out []string
	for _, v := range of {
		name, _, _ := strings.Cut(v, "=")
		if _, replaced := given[name]; inherited(name) && !replaced {
			out = append(out, v)
		}
	}
	for name, value := range given {
		out = append(out, name+"="+value)
	}
	return out
}

// executable says why a file is no program, nil for one that is.
func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return errors.New("is not there")
	case err != nil:
		return err
	case info.IsDir() || info.Mode().Perm()&0o111 == 0:
		return errors.New("is no program")
	}
	return nil
}
