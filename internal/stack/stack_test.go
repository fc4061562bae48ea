//go:build integration

package stack

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// TestAFailedStartLeavesNothing: there is a server already, and no worker.
func TestAFailedStartLeavesNothing(t *testing.T) {
	t.Parallel()
	s := &Stack{o: Options{Dir: t.TempDir(), Worker: filepath.Join(t.TempDir(), "no-worker"), Attributes: true}}
	err := s.start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "start worker: ") || s.Server == nil || !listens(s.Server.Address()) {
		t.Fatalf("error %v", err)
	}
	if err := s.Close(); err != nil || listens(s.Server.Address()) {
		t.Errorf("after Close: %v", err)
	}
}

func listens(address string) bool {
	c, err := net.Dial("tcp", address)
	if err == nil {
		_ = c.Close()
	}
	return err == nil
}
