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

// commands makes the page of the operators' commands from their own help. The
// commands are found in the help, so that a new one is not forgotten.
func commands(ctx context.Context, root string) (string, error) {
	dir, err := os.MkdirTemp("", "docgen-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder for temporary files
	tool, err := build(ctx, root, dir, "flinkscaler", "./starter")
	if err != nil {
		return "", err
	}
	top, err := tool.help(ctx)
	if err != nil {
		return "", err
	}
	names := commandNames(top)
	if len(names) < 5 {
		return "", fmt.Errorf("only %d commands were found in the help of flinkscaler", len(names))
	}
	texts := make([]reference.Command, 0, len(names))
	for _, name := range names {
		text, err := tool.helps(ctx, name)
		if err != nil {
			return "", err
		}
		texts = append(texts, reference.Command{Name: name, Help: text})
	}
	worker, err := build(ctx, root, dir, "flinkscaler-worker", "./worker")
	if err != nil {
		return "", err
	}
	page := reference.Commands(top, texts)
	for _, c := range []struct{ name, about string }{
		{"evaluate", "It looks at Flink by the worker's configuration, and needs no Temporal."},
		{"discover", "It looks at Kubernetes and Flink by the worker's configuration, and needs no Temporal."},
	} {
		help, err := worker.help(ctx, c.name)
		if err != nil {
			return "", err
		}
		page += "\n# The command flinkscaler-worker " + c.name + "\n\n" + c.about + "\n\n```text\n" + strings.TrimRight(help, "\n") + "\n```\n"
	}
	return page, nil
}

// program is one of ours, built.
type program struct{ name, path string }

func build(ctx context.Context, root, dir, name, source string) (program, error) {
	p := program{name, filepath.Join(dir, name)}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", p.path, source) //nolint:gosec // our own program
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return p, fmt.Errorf("build %s: %w\n%s", source, err, out)
	}
	return p, nil
}

func (p program) help(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, p.path, append(args, "--help")...).Output() //nolint:gosec // our own program
	if err != nil {
		return "", fmt.Errorf("%s %s --help: %w", p.name, strings.Join(args, " "), err)
	}
	return anonymous(string(out)), nil
}

// helps gives the help of a command, followed by that of the commands below it.
func (p program) helps(ctx context.Context, name string) (string, error) {
	text, err := p.help(ctx, name)
	if err != nil || !strings.Contains(text, "\nAvailable Commands:\n") {
		return text, err
	}
	for _, below := range commandNames(text) {
		more, err := p.help(ctx, name, below)
		if err != nil {
			return "", err
		}
		text = strings.TrimRight(text, "\n") + fmt.Sprintf("\n\n--- %s %s %s ---\n\n%s", p.name, name, below, more)
	}
	return text, nil
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
