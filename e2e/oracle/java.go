package oracle

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"

	"flinkscaler/e2e/oracle/harness"
	"flinkscaler/internal/spawn"
)

// Request is one line to the harness. Use OpenRequest, CycleRequest and CloseRequest.
type Request struct {
	Op       string            `json:"op"`
	Session  string            `json:"session,omitempty"`
	Options  map[string]string `json:"options,omitempty"`
	Look     *Look             `json:"look,omitempty"`
	Requests []Request         `json:"requests,omitempty"`
}

// OpenRequest begins a session: one job under the autoscaler, with its options.
func OpenRequest(session string, options map[string]string) Request {
	return Request{Op: "open", Session: session, Options: options}
}

// CycleRequest lets the autoscaler have one look at the session's job.
func CycleRequest(session string, look Look) Request {
	return Request{Op: "cycle", Session: session, Look: &look}
}

// CloseRequest forgets a session.
func CloseRequest(session string) Request { return Request{Op: "close", Session: session} }

// Java is the Java autoscaler in a JVM of its own. Its methods may be called from any goroutine, one waits for the
// other.
type Java struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer

	mu  sync.Mutex
	in  io.WriteCloser
	out *bufio.Reader
}

// Start starts the JVM. Close must be called.
func Start() (*Java, error) {
	path, err := harness.ClassPath()
	if err != nil {
		return nil, err
	}
	j := &Java{cmd: exec.Command("java", "-XX:+UseSerialGC", "-Xmx512m", "-Duser.timezone=UTC", "-Duser.language=en", "-cp", path, harness.MainClass)}
	j.cmd.Stderr = &j.stderr
	if j.in, err = j.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := j.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	j.out = bufio.NewReaderSize(out, 1<<20)
	if err := spawn.Start(j.cmd); err != nil {
		return nil, fmt.Errorf("start the Java autoscaler: %w", err)
	}
	return j, nil
}

// Batch sends requests as one and gives their answers in order. A failing request has its Answer's Error set.
func (j *Java) Batch(requests []Request) ([]Answer, error) {
	var reply struct {
		Error   string   `json:"error"`
		Answers []Answer `json:"answers"`
	}
	if err := j.call(Request{Op: "batch", Requests: requests}, &reply); err != nil {
		return nil, err
	}
	if reply.Error != "" || len(reply.Answers) != len(requests) {
		return nil, fmt.Errorf("ask the Java autoscaler: %d answers to %d requests; %s", len(reply.Answers), len(requests), reply.Error)
	}
	return reply.Answers, nil
}

// Do sends one request. A request that fails is an error.
func (j *Java) Do(r Request) (Answer, error) {
	var a Answer
	if err := j.call(r, &a); err != nil {
		return a, err
	}
	if a.Error != "" {
		return a, fmt.Errorf("ask the Java autoscaler to %s %s: %s", r.Op, r.Session, a.Error)
	}
	return a, nil
}

func (j *Java) call(r Request, reply any) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write request: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.in.Write(append(line, '\n')); err != nil {
		return j.broken(err)
	}
	answer, err := j.out.ReadBytes('\n')
	if err != nil {
		return j.broken(err)
	}
	if err := json.Unmarshal(answer, reply); err != nil {
		return fmt.Errorf("read answer %.200q: %w", answer, err)
	}
	return nil
}

// broken says why the JVM does not answer: it ended, so its last words are there.
func (j *Java) broken(err error) error {
	_ = j.cmd.Process.Kill()
	_ = j.cmd.Wait()
	return fmt.Errorf("the Java autoscaler does not answer: %w; its last words: %s", err, strings.TrimSpace(j.stderr.String()))
}

// Close ends the JVM.
func (j *Java) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	err := j.in.Close()
	return errors.Join(err, j.cmd.Wait())
}
