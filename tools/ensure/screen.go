package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// How often progress is shown. A terminal's line is rewritten, so it can move; a log gets a line each time.
const (
	terminalEvery = time.Second
	logEvery      = 10 * time.Second
)

// screen is where progress goes.
type screen struct {
	out      io.Writer
	terminal bool
}

func newScreen(out io.Writer) screen {
	return screen{out: out, terminal: isTerminal(out)}
}

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// line prints a line that stays.
func (s screen) line(format string, args ...any) {
	fmt.Fprintf(s.out, s.clear()+format+"\n", args...)
}

// passing prints a line that the next one may overwrite.
func (s screen) passing(format string, args ...any) {
	if s.terminal {
		fmt.Fprintf(s.out, s.clear()+format, args...)
		return
	}
	s.line(format, args...)
}

// clear takes back what a passing line left on a terminal.
func (s screen) clear() string {
	if s.terminal {
		return "\r\x1b[K"
	}
	return ""
}

// task shows the progress of one target.
type task struct {
	screen  screen
	name    string
	started time.Time

	stop    chan struct{}
	stopped sync.WaitGroup
}

// begin says what starts.
func (s screen) begin(name, intro string) *task {
	s.line("%s: %s", name, intro)
	return &task{screen: s, name: name, started: time.Now()}
}

// watch shows status every few seconds until the next watch, done or fail. status runs on another goroutine.
func (t *task) watch(status func() string) {
	t.unwatch()
	every := logEvery
	if t.screen.terminal {
		every = terminalEvery
	}
	stop := make(chan struct{})
	t.stop = stop
	t.stopped.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
				t.screen.passing("%s: %s, %s", t.name, t.elapsed(), status())
			}
		}
	})
}

// done says how long it took.
func (t *task) done() {
	t.unwatch()
	t.screen.line("%s: done in %s", t.name, t.elapsed())
}

// fail ends the progress without a word: the error that follows says it all.
func (t *task) fail() {
	t.unwatch()
	if t.screen.terminal {
		fmt.Fprint(t.screen.out, t.screen.clear())
	}
}

func (t *task) unwatch() {
	if t.stop == nil {
		return
	}
	close(t.stop)
	t.stop = nil
	t.stopped.Wait()
}

func (t *task) elapsed() time.Duration { return time.Since(t.started).Round(time.Second) }
