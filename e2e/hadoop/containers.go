package hadoop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"flinkscaler/internal/child"
)

// Container is the process of a container of YARN: a JobManager or a TaskManager.
type Container struct {
	PID int
	// ID is "container_<started>_<application>_<attempt>_<number>".
	ID string
	// Application is "application_<started>_<application>".
	Application string
	// Attempt counts from 1, Number within the attempt; number 1 is the application master.
	Attempt, Number int
	// Command is its command line.
	Command string
}

// containerName finds the id; behind a restart of the ResourceManager it has that one's count in it.
var containerName = regexp.MustCompile(`container_(?:e\d+_)?(\d+_\d+)_(\d+)_(\d+)`)

// Containers lists the Java processes of containers that run on this machine, whether YARN still knows them or not.
func (c *Cluster) Containers() ([]Container, error) {
	found, err := processesBelow(c.layout.dir)
	if err != nil {
		return nil, err
	}
	var containers []Container
	for _, p := range found {
		if one, ok := p.container(); ok {
			containers = append(containers, one)
		}
	}
	return containers, nil
}

// KillAM ends the JobManager of an application's newest attempt as a crash would (SIGKILL).
func (c *Cluster) KillAM(application string) error {
	all, err := c.Containers()
	if err != nil {
		return err
	}
	masters := slices.DeleteFunc(all, func(one Container) bool { return one.Application != application || one.Number != 1 })
	if len(masters) == 0 {
		return fmt.Errorf("kill the application master of %s: it has none on this machine", application)
	}
	newest := slices.MaxFunc(masters, func(a, b Container) int { return a.Attempt - b.Attempt })
	c.say("kill -9 of %s (pid %d)", newest.ID, newest.PID)
	return syscall.Kill(newest.PID, syscall.SIGKILL)
}

// running is a process with what it was started as.
type running struct {
	pid  int
	args []string
}

// container: only the JVM itself counts, not the shells around it.
func (p running) container() (Container, bool) {
	if len(p.args) == 0 || filepath.Base(p.args[0]) != "java" {
		return Container{}, false
	}
	command := strings.Join(p.args, " ")
	name := containerName.FindStringSubmatch(command)
	if name == nil {
		return Container{}, false
	}
	attempt, _ := strconv.Atoi(name[2]) // digits, by the pattern
	number, _ := strconv.Atoi(name[3])
	return Container{
		PID: p.pid, ID: name[0], Application: "application_" + name[1], Attempt: attempt, Number: number, Command: command,
	}, true
}

// processesBelow lists the processes, other than this one, that name something in a folder in their command line.
func processesBelow(dir string) ([]running, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var found []running
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		line, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		if err != nil || !bytes.Contains(line, []byte(dir+"/")) {
			continue // it is gone, or none of ours
		}
		found = append(found, running{pid: pid, args: strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")})
	}
	return found, nil
}

// killBelow kills them until none is left, which has to show several times: a shell that dies may have started something
// at the last moment, and a process that becomes another program has no command line for a moment.
func killBelow(dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	none := 0
	return child.WaitFor(ctx, "the containers to end", func(context.Context) (string, bool, error) {
		left, err := processesBelow(dir)
		if err != nil {
			return "", false, err
		}
		for _, p := range left {
			if err := syscall.Kill(p.pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return "", false, err
			}
		}
		if none++; len(left) > 0 {
			none = 0
		}
		return fmt.Sprintf("%d processes", len(left)), none == 3, nil
	})
}
