package hadoop

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// reaperScript waits until the other end of its input is closed, which happens when the one that holds it ends, by
// whatever cause. Then it kills what names something in the folder in its command line, until there is nothing for a
// second, and removes the folder: a process that becomes another program has no command line for a moment. One that
// ends meanwhile is no problem. One program looks through all of them: one for each takes a minute on a busy machine.
const reaperScript = `
read -r word && exit 0
round=0 none=0
while [ $none -lt 5 ] && [ $round -lt 100 ]; do
  round=$((round + 1)) none=$((none + 1))
  files=$(printf '%s\n' "$REAP/" | grep -alFs -f - /proc/[0-9]*/cmdline)
  [ -z "$files" ] || none=0
  for file in $files; do
    pid=${file#/proc/}
    kill -9 "${pid%/cmdline}" 2>/dev/null
  done
  sleep 0.2
done
[ -z "$REMOVE" ] || rm -rf "$REAP"
`

// reaper ends what a cluster leaves behind when this process is killed: containers are no children of ours.
type reaper struct {
	cmd   *exec.Cmd
	input io.WriteCloser
}

func startReaper(dir string, remove bool) (*reaper, error) {
	cmd := exec.Command("/bin/sh", "-c", reaperScript)
	cmd.Env = append(os.Environ(), "REAP="+dir)
	if remove {
		cmd.Env = append(cmd.Env, "REMOVE=1")
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt typed at a terminal is not for it
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the reaper: %w", err)
	}
	return &reaper{cmd: cmd, input: input}, nil
}

// release lets it go: everything is gone.
func (r *reaper) release() error {
	if r == nil {
		return nil
	}
	if _, err := io.WriteString(r.input, "done\n"); err != nil {
		return fmt.Errorf("end the reaper: %w", err)
	}
	if err := r.cmd.Wait(); err != nil {
		return fmt.Errorf("end the reaper: %w", err)
	}
	return nil
}
