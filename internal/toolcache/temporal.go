package toolcache

import (
	"context"
	"os/exec"
	"time"
)

// versionTimeout bounds `temporal --version`. It takes well under a second; a shim that hangs must not hang us.
const versionTimeout = 20 * time.Second

// FindTemporal returns the temporal CLI to run: the one on the PATH when it is at least TemporalVersion, so that
// a developer who has it waits for no build, otherwise the cached one, otherwise ErrMissing.
func (c Cache) FindTemporal(ctx context.Context) (string, error) {
	if path, ok := temporalOnPath(ctx); ok {
		return path, nil
	}
	return present(c.Temporal(), "temporal")
}

func temporalOnPath(ctx context.Context) (string, bool) {
	path, err := exec.LookPath("temporal")
	if err != nil {
		return "", false
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	output, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", false
	}
	return path, temporalGood(string(output))
}
