//go:build e2e

package kubelocal

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"flinkscaler/internal/child"
)

// patience is for conditions that come true within seconds, on a busy machine too.
const patience = 3 * time.Minute

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func startPlane(t *testing.T, o Options) *Plane {
	t.Helper()
	o.Dir = t.TempDir()
	p, err := Start(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { must(t, p.Close()) })
	return p
}

func (p *Plane) processes() []*child.Process {
	return []*child.Process{p.etcd, p.apiServer, p.controllerManager}
}

// TestClosedPlanesLeaveNothing: a second one starts beside the first, and both are gone after Close.
func TestClosedPlanesLeaveNothing(t *testing.T) {
	first := startPlane(t, Options{ControllerManager: true})
	second := startPlane(t, Options{})
	if first.URL() == second.URL() {
		t.Errorf("both at %s", first.URL())
	}
	must(t, second.Close())
	if _, err := first.Clientset().Discovery().ServerVersion(); err != nil {
		t.Errorf("the first does not answer after the end of the second: %v", err)
	}
	must(t, first.Close())
	for _, c := range first.processes() {
		if c.Alive() || syscall.Kill(c.PID(), 0) == nil {
			t.Errorf("%s is still there", c.Name())
		}
	}
	for _, p := range []*Plane{first, second} {
		if _, err := os.Stat(p.Dir()); !os.IsNotExist(err) {
			t.Errorf("%s: %v; want it to be gone", p.Dir(), err)
		}
		must(t, p.Close())
	}
}

// TestATakenPort: somebody else listens where etcd, and then the API server, was to listen.
func TestATakenPort(t *testing.T) {
	other, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	must(t, err)
	t.Cleanup(func() { _ = other.Close() })
	taken, looks := []int{0, 2}, 0
	startPlane(t, Options{ports: func(count int) ([]int, error) {
		ports, err := child.FreePorts(count)
		if looks < len(taken) && err == nil {
			ports[taken[looks]] = other.Addr().(*net.TCPAddr).Port
		}
		looks++
		return ports, err
	}})
	if looks != 3 {
		t.Errorf("started with the ports of look %d; want the third", looks)
	}
}

// planeEnv makes this test binary the owner of a plane in TestAKilledOwnerLeavesNoProcess.
const planeEnv = "KUBELOCAL_TEST_OWNER"

func TestAKilledOwnerLeavesNoProcess(t *testing.T) {
	if dir := os.Getenv(planeEnv); dir != "" {
		ownPlane(t, dir)
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells a child of its parent's death")
	}
	owner := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAKilledOwnerLeavesNoProcess$", "-test.v")
	owner.Env = append(os.Environ(), planeEnv+"="+t.TempDir())
	output, err := owner.StdoutPipe()
	must(t, err)
	must(t, owner.Start())
	pids := readPIDs(t, bufio.NewScanner(output))
	for _, pid := range pids {
		if syscall.Kill(pid, 0) != nil {
			t.Errorf("process %d of the plane does not run", pid)
		}
	}
	must(t, owner.Process.Kill())
	_ = owner.Wait() // it was killed
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, child.WaitFor(ctx, "the plane to die", func(context.Context) (string, bool, error) {
		for _, pid := range pids {
			if running(pid) {
				return fmt.Sprintf("process %d is there", pid), false, nil
			}
		}
		return "", true, nil
	}))
}

// ownPlane starts a plane, says its processes' ids and waits to be killed.
func ownPlane(t *testing.T, dir string) {
	p, err := Start(t.Context(), Options{ControllerManager: true, Dir: dir})
	must(t, err)
	fmt.Printf("pids %d %d %d\n", p.etcd.PID(), p.apiServer.PID(), p.controllerManager.PID())
	<-t.Context().Done()
}

func readPIDs(t *testing.T, lines *bufio.Scanner) []int {
	t.Helper()
	for lines.Scan() {
		pids := make([]int, 3)
		if n, _ := fmt.Sscanf(lines.Text(), "pids %d %d %d", &pids[0], &pids[1], &pids[2]); n == len(pids) {
			return pids
		}
	}
	t.Fatal("the owner named no processes")
	return nil
}

// running is false for a zombie: nobody may be there to collect an orphan.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}
