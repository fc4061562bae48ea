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
// round looks at all processes of the machine.
const (
	sweepRounds = 100
	sweepPause  = 20 * time.Millisecond
)

// sweep kills what earlier workers on this machine left of a submission, and returns
// when none of it is there any more. Processes of other users cannot be seen.
func sweep(ctx context.Context, jobID string) {
	for range sweepRounds {
		left := marksOf(jobID)
		if len(left) == 0 {
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
