package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// killGrace is how long a tool may take to end after an interrupt before its pipes are closed.
const killGrace = 5 * time.Second

// failureLines is how much of a tool's output a failure shows: a compiler's error with some context.
const failureLines = 25

// command is a tool to run.
type command struct {
	dir  string
	env  []string // added to the environment
	args []string
	line func(string) // called for each line of output; optional
}

// runTool runs a tool. Its output is shown with -v, and its last lines are part of the error when it fails.
func (e *ensurer) runTool(ctx context.Context, c command) error {
	_, err := e.toolOutput(ctx, c)
	return err
}

// toolOutput runs a tool and returns its standard output.
func (e *ensurer) toolOutput(ctx context.Context, c command) (string, error) {
	lines := &lineLog{each: e.eachLine(c.line)}
	out, diagnostics := &stream{log: lines}, &stream{log: lines}
	var kept bytes.Buffer
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Stdout = io.MultiWriter(&kept, out)
	cmd.Stderr = diagnostics
	cmd.WaitDelay = killGrace
	err := cmd.Run()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		out.end()
		diagnostics.end()
		return "", fmt.Errorf("run %s: %w; its last lines:\n  %s", strings.Join(c.args, " "), err, strings.Join(lines.last, "\n  "))
	}
	return kept.String(), nil
}

// eachLine shows the lines with -v, beside what the caller does with them.
func (e *ensurer) eachLine(callers func(string)) func(string) {
	return func(line string) {
		if e.verbose {
			e.screen.line("  %s", line)
		}
		if callers != nil {
			callers(line)
		}
	}
}

// lineLog keeps the last lines of both output streams of a tool.
type lineLog struct {
	each func(string)

	mu   sync.Mutex
	last []string
}

// add bounds what is held to what a failure shows.
func (l *lineLog) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = append(l.last, line)
	if len(l.last) > failureLines {
		l.last = l.last[1:]
	}
	l.each(line)
}

// stream cuts one output stream into lines. Each stream has its own unfinished line, so that the two never mix.
type stream struct {
	log     *lineLog
	partial string
}

func (s *stream) Write(data []byte) (int, error) {
	s.partial += string(data)
	for {
		line, rest, found := strings.Cut(s.partial, "\n")
		if !found {
			return len(data), nil
		}
		s.partial = rest
		s.log.add(line)
	}
}

// end passes on a last line without a newline.
func (s *stream) end() {
	if s.partial != "" {
		s.log.add(s.partial)
		s.partial = ""
	}
}
