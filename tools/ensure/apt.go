package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// apt downloads packages from the sources that this machine is set up for. It keeps its lists and archives in a folder
// of its own and takes no lock of the system, so it needs no root rights.
type apt struct {
	e        *ensurer
	lists    string
	archives string
	state    string
}

func newApt(e *ensurer, folder string) (apt, error) {
	a := apt{
		e: e, lists: filepath.Join(folder, "lists"), archives: filepath.Join(folder, "archives"), state: filepath.Join(folder, "cache"),
	}
	for _, dir := range []string{filepath.Join(a.lists, "partial"), filepath.Join(a.archives, "partial"), a.state} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return apt{}, err
		}
	}
	return a, nil
}

// command is one of apt's tools on this folder. Without another user for downloads, which root would switch to: that
// one may have no right to the folder.
func (a apt) command(tool string, args ...string) command {
	options := []string{
		tool, "-q", "-o", "Dir::State::lists=" + a.lists, "-o", "Dir::Cache=" + a.state, "-o", "Dir::Cache::archives=" + a.archives,
		"-o", "APT::Sandbox::User=", "-o", "Debug::NoLocking=true", "-o", "Acquire::Languages=none", "-o", "Acquire::Retries=3",
	}
	return command{dir: a.archives, env: []string{"LC_ALL=C"}, args: append(options, args...)}
}

// update fetches the lists.
func (a apt) update(ctx context.Context) error {
	return a.e.runTool(ctx, a.command("apt-get", "update"))
}

// dependencies lists the packages and all that they need, alternatives included.
func (a apt) dependencies(ctx context.Context, packages []string) ([]string, error) {
	args := []string{
		"depends", "--recurse", "--no-recommends", "--no-suggests", "--no-conflicts", "--no-breaks", "--no-replaces", "--no-enhances",
	}
	output, err := a.e.toolOutput(ctx, a.command("apt-cache", append(args, packages...)...))
	if err != nil {
		return nil, fmt.Errorf("look up what %s need: %w", strings.Join(packages, ", "), err)
	}
	return packageNames(output), nil
}

// packageNames reads what apt-cache depends prints: each package on a line of its own, below it, indented, what it needs.
// In angle brackets are names that only stand for others, and with a colon those of other architectures.
func packageNames(output string) []string {
	var names []string
	for line := range strings.Lines(output) {
		name := strings.TrimSpace(line)
		if name != "" && !strings.ContainsAny(line[:1], " |<") && !strings.Contains(name, ":") {
			names = append(names, name)
		}
	}
	return names
}

// download fetches the newest of each package and returns the files.
func (a apt) download(ctx context.Context, packages []string) ([]string, error) {
	if err := a.e.runTool(ctx, a.command("apt-get", append([]string{"download"}, packages...)...)); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(a.archives, "*.deb"))
	if err != nil {
		return nil, err
	}
	if len(files) != len(packages) {
		return nil, fmt.Errorf("download %s: %d packages came", strings.Join(packages, ", "), len(files))
	}
	return files, nil
}
