package yarn

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// What is killed is gone within milliseconds; a JVM on a busy machine takes longer. Each
// round looks at all processes of the machine. One that becomes another program shows no
// environment for a moment: so several rounds in a row must find none.
const (
	sweepRounds = 100
	sweepNone   = 5
	sweepPause  = 40 * time.Millisecond
)

// sweep kills what earlier workers on this machine left of a submission, and returns
// when none of it is there any more. Processes of other users cannot be seen.
func sweep(ctx context.Context, jobID string) {
	none := 0
	for range sweepRounds {
		left := marksOf(jobID)
		if none++; len(left) > 0 {
			none = 0
		}
		if none == sweepNone {
			return
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(sweepPause):
		}
	}
}

// marksOf are the processes whose environment bears the marker of a submission.
func marksOf(jobID string) []int {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	var out []int
	for _, file := range files {
		env, err := os.ReadFile(file) //nolint:gosec // a path of /proc
		if err != nil {
			continue
		}
		for v := range bytes.SplitSeq(env, []byte{0}) {
			if string(v) != marker+"="+jobID {
				continue
			}
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && pid != os.Getpid() {
				out = append(out, pid)
			}
		}
	}
	return out
}
