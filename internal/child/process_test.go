package child

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shell is a process that runs a shell script and leaves nothing behind.
func shell(t *testing.T, script string) *Process {
	t.Helper()
	return process(t, Command{Name: "script", Path: "/bin/sh", Args: []string{"-c", script}, LogDir: t.TempDir()})
}

func process(t *testing.T, c Command) *Process {
	t.Helper()
	p := New(c)
	t.Cleanup(func() { must(t, p.End()) })
	return p
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// patience is for conditions that come true within milliseconds.
const patience = time.Minute

func awaitText(t *testing.T, p *Process, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, WaitFor(ctx, "the text "+text, func(context.Context) (string, bool, error) { return p.Tail(), p.Wrote(text), nil }))
}

func awaitEnd(t *testing.T, p *Process) {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(patience):
		t.Fatalf("%s still runs after %s", p.Name(), patience)
	}
}

func TestAProcessThatWasNeverStarted(t *testing.T) {
	t.Parallel()
	p := shell(t, "exit 0")
	if p.Alive() || p.PID() != 0 || p.ExitCode() != -1 || p.Log() != "" || p.Tail() != "" || p.Wrote("x") {
		t.Errorf("alive %v, pid %d, exit code %d, log %q, tail %q", p.Alive(), p.PID(), p.ExitCode(), p.Log(), p.Tail())
	}
	awaitEnd(t, p)
	for name, f := range map[string]func() error{"Kill": p.Kill, "Freeze": p.Freeze, "Thaw": p.Thaw} {
		if err := f(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLives(t *testing.T) {
	t.Parallel()
	p := shell(t, "echo life of $$; exec sleep 1000")
	must(t, p.Launch())
	pid, log := p.PID(), p.Log()
	awaitText(t, p, fmt.Sprintf("life of %d\n", pid))
	if err := p.Launch(); err == nil || !strings.Contains(err.Error(), "still runs") {
		t.Errorf("a second start beside the first: %v", err)
	}
	must(t, p.Kill())
	if p.Alive() || p.ExitCode() != -1 {
		t.Errorf("after Kill: alive %v, exit code %d; want -1 for a signal", p.Alive(), p.ExitCode())
	}
	for name, f := range map[string]func() error{"Kill": p.Kill, "Freeze": p.Freeze, "Thaw": p.Thaw} {
		if err := f(); err != nil {
			t.Errorf("%s of a process that is gone: %v", name, err)
		}
	}
	must(t, p.Launch())
	if p.PID() == pid || p.Log() == log {
		t.Error("a second life is another process with a log of its own")
	}
	awaitText(t, p, fmt.Sprintf("life of %d\n", p.PID()))
	if p.Wrote(fmt.Sprintf("life of %d\n", pid)) {
		t.Error("the log of the first life is taken for that of the second")
	}
	must(t, p.End())
	if err := p.Launch(); err == nil || p.Alive() {
		t.Errorf("started again after its end for good: %v", err)
	}
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	p := shell(t, "exit 7")
	must(t, p.Launch())
	awaitEnd(t, p)
	if p.ExitCode() != 7 {
		t.Errorf("exit code %d; want 7", p.ExitCode())
	}
}

func TestAProgramThatIsNotThere(t *testing.T) {
	t.Parallel()
	p := process(t, Command{Name: "ghost", Path: filepath.Join(t.TempDir(), "ghost"), LogDir: t.TempDir()})
	if err := p.Launch(); err == nil || !strings.HasPrefix(err.Error(), "start ghost: ") || p.Alive() {
		t.Errorf("error %v, alive %v", err, p.Alive())
	}
}

// obedient ends by itself, with code 7, when it is asked to.
const obedient = `trap "exit 7" TERM; echo up; while :; do sleep 0.05; done`

func TestFreezeAndThaw(t *testing.T) {
	t.Parallel()
	p := shell(t, obedient)
	must(t, p.Launch())
	awaitText(t, p, "up")
	must(t, p.Freeze())
	awaitState(t, p.PID(), "T")
	must(t, p.Signal(syscall.SIGTERM)) // waits until it goes on
	if !p.Alive() {
		t.Error("a frozen process counts as dead")
	}
	must(t, p.Thaw())
	awaitEnd(t, p)
	if p.ExitCode() != 7 {
		t.Errorf("exit code %d; want 7", p.ExitCode())
	}
}

// awaitState waits for a state of the kernel's; elsewhere than on Linux it
// cannot be seen.
func awaitState(t *testing.T, pid int, want string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, WaitFor(ctx, "state "+want, func(context.Context) (string, bool, error) {
		state := stateOf(pid)
		return state, state == want, nil
	}))
}

// stateOf is what the kernel says of a process: "S", "T", "Z"; empty when it is
// gone.
func stateOf(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	state, _, _ := strings.Cut(after, " ")
	return state
}

func TestAFrozenProcessCanBeKilled(t *testing.T) {
	t.Parallel()
	p := shell(t, "exec sleep 1000")
	must(t, p.Launch())
	must(t, p.Freeze())
	must(t, p.Kill())
}

func TestStop(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, script string
		patience       time.Duration
		code           int
	}{
		"obeys":   {"it is given the time it needs", obedient, patience, 7},
		"refuses": {"it is killed when the time is over", `trap "" TERM; echo up; while :; do sleep 0.05; done`, time.Millisecond, -1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := shell(t, tc.script)
			must(t, p.Launch())
			awaitText(t, p, "up")
			ctx, cancel := context.WithTimeout(t.Context(), tc.patience)
			defer cancel()
			must(t, p.Stop(ctx))
			if p.Alive() || p.ExitCode() != tc.code {
				t.Errorf("%s: alive %v, exit code %d; want %d", tc.reason, p.Alive(), p.ExitCode(), tc.code)
			}
		})
	}
}

func TestEnvironmentAndFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := process(t, Command{Name: "script", Path: "/bin/sh", Args: []string{"-c", `echo "$COLOUR and $HOME in $(pwd)"`}, Env: []string{"COLOUR=blue"}, Dir: dir, LogDir: t.TempDir()})
	must(t, p.Launch())
	awaitEnd(t, p)
	if want := "blue and " + os.Getenv("HOME") + " in " + dir; !p.Wrote(want) {
		t.Errorf("no %q in\n%s", want, p.Tail())
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	p := shell(t, "seq 100")
	must(t, p.Launch())
	awaitEnd(t, p)
	lines := strings.Split(p.Tail(), "\n")
	if want := fmt.Sprintf("end of %s:", filepath.Base(p.Log())); lines[0] != want {
		t.Errorf("it begins with %q; want %q", lines[0], want)
	}
	if len(lines) != 1+tailLines || lines[1] != "  61" || lines[tailLines] != "  100" {
		t.Errorf("%d lines, %q to %q; want the last %d", len(lines), lines[1], lines[len(lines)-1], tailLines)
	}
}

// TestALogOfItsOwn: some programs write a log beside what they print.
func TestALogOfItsOwn(t *testing.T) {
	t.Parallel()
	p := process(t, Command{
		Name: "script", Path: "/bin/sh", Args: []string{"printed"}, LogDir: t.TempDir(),
		LogArgs: func(file string) []string { return []string{"-c", `echo logged > "$0"; echo "$1"`, file} },
	})
	must(t, p.Launch())
	awaitEnd(t, p)
	content, err := os.ReadFile(p.Log())
	must(t, err)
	if string(content) != "logged\n" {
		t.Errorf("its log has %q", content)
	}
	if !p.Wrote("logged") || !p.Wrote("printed") {
		t.Error("what it wrote to its output or to its log is not seen")
	}
	var files []string
	for _, line := range strings.Split(p.Tail(), "\n") {
		if file, found := strings.CutPrefix(line, "end of "); found {
			files = append(files, file)
		}
	}
	if want := []string{"script-run1.log:", "script-run1.out:"}; !slices.Equal(files, want) {
		t.Errorf("the tail shows %q; want %q", files, want)
	}
}
