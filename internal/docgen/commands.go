package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"

	"flinkscaler/internal/docgen/reference"
)

// commands makes the page of the operators' command from its own help. The
// commands are found in the help, so that a new one is not forgotten.
func commands(ctx context.Context, root string) (string, error) {
	dir, err := os.MkdirTemp("", "docgen-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder for temporary files
	program := filepath.Join(dir, "flinkscaler")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./starter") //nolint:gosec // our own program
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the starter: %w\n%s", err, out)
	}
	help := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, program, append(args, "--help")...).Output() //nolint:gosec // our own program
		if err != nil {
			return "", fmt.Errorf("flinkscaler %s --help: %w", strings.Join(args, " "), err)
		}
		return anonymous(string(out)), nil
	}
	top, err := help()
	if err != nil {
		return "", err
	}
	names := commandNames(top)
	if len(names) < 5 {
		return "", fmt.Errorf("only %d commands were found in the help of flinkscaler", len(names))
	}
	texts := make([]reference.Command, 0, len(names))
	for _, name := range names {
		text, err := help(name)
		if err != nil {
			return "", err
		}
		texts = append(texts, reference.Command{Name: name, Help: text})
	}
	return reference.Commands(top, texts), nil
}

var commandLine = regexp.MustCompile(`^  ([a-z][a-z-]*) +\S`) //nolint:gochecknoglobals // a constant

// commandNames reads the commands out of cobra's help.
func commandNames(help string) []string {
	var out []string
	listing := false
	for line := range strings.Lines(help) {
		switch m := commandLine.FindStringSubmatch(line); {
		case strings.HasSuffix(strings.TrimSpace(line), ":"):
			listing = !strings.HasPrefix(line, "Flags") && !strings.HasPrefix(line, "Examples") && !strings.HasPrefix(line, "Usage")
		case listing && m != nil && m[1] != "help" && m[1] != "completion":
			out = append(out, m[1])
		}
	}
	return out
}

// anonymous takes out the one default that is the reader's own name.
func anonymous(help string) string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		help = strings.ReplaceAll(help, fmt.Sprintf("(default %q)", u.Username), "(default your user name)")
	}
	return help
}
