package hadoop

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"flinkscaler/internal/child"
)

// lost starts a process that is no child of ours and names the folder, as the container of a dead NodeManager does.
func lost(t *testing.T, dir string) {
	t.Helper()
	must(t, exec.Command("/bin/sh", "-c", `sh -c 'while :; do sleep 1; done' `+dir+`/container >/dev/null 2>&1 &`).Run())
	awaitBelow(t, dir, 1)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func awaitBelow(t *testing.T, dir string, want int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must(t, child.WaitFor(ctx, "processes below the folder", func(context.Context) (string, bool, error) {
		found, err := processesBelow(dir)
		var seen []string
		for _, p := range found {
			seen = append(seen, strings.Join(p.args, " "))
		}
		return strings.Join(seen, "; "), len(found) == want, err
	}))
}

func TestKillBelow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	other := dir + "1" // another cluster's folder may begin like this one's
	t.Cleanup(func() { must(t, killBelow(other)) })
	lost(t, dir)
	lost(t, other)
	must(t, killBelow(dir))
	awaitBelow(t, dir, 0)
	awaitBelow(t, other, 1)
}

// parentEnv makes this test binary the parent in TestReaper.
const parentEnv = "HADOOP_TEST_PARENT"

// TestReaper: what a parent that is killed leaves behind is killed, and its folder removed.
func TestReaper(t *testing.T) {
	if dir := os.Getenv(parentEnv); dir != "" {
		_, err := startReaper(dir, true)
		must(t, err)
		os.Stdout.WriteString("ready\n") //nolint:errcheck // the other end notices
		<-t.Context().Done()
		return
	}
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cluster")
	must(t, os.Mkdir(dir, 0o755))
	parent := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestReaper$")
	parent.Env = append(os.Environ(), parentEnv+"="+dir)
	output, err := parent.StdoutPipe()
	must(t, err)
	must(t, parent.Start())
	if line, err := bufio.NewReader(output).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the parent says %q: %v", line, err)
	}
	lost(t, dir)
	must(t, parent.Process.Signal(syscall.SIGKILL))
	_ = parent.Wait() // it was killed
	awaitBelow(t, dir, 0)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must(t, child.WaitFor(ctx, "the folder to go", func(context.Context) (string, bool, error) {
		_, err := os.Stat(dir)
		return "it is there", os.IsNotExist(err), nil
	}))
}

// TestReaperLetsGo: after an end in order it touches nothing.
func TestReaperLetsGo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, err := startReaper(dir, true)
	must(t, err)
	lost(t, dir)
	t.Cleanup(func() { must(t, killBelow(dir)) })
	must(t, r.release())
	awaitBelow(t, dir, 1)
	_, err = os.Stat(dir)
	must(t, err)
}
