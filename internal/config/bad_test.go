package config

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// marker stands for a secret in the corpus.
const marker = "s3cret-marker"

var update = flag.Bool("update", false, "write what is reported into the corpus; read the difference") //nolint:gochecknoglobals // a flag

// TestBadConfigurations loads each file of the corpus and compares the whole
// text of the error. No text repeats a secret (I11).
func TestBadConfigurations(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 15 {
		t.Fatalf("found %d files, want at least 15", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			c := readCase(t, file)
			_, _, err := Load(c.source)
			var bad *Error
			if !errors.As(err, &bad) {
				t.Fatalf("error is %v, want an *Error", err)
			}
			got := strings.ReplaceAll(err.Error(), c.dir, "$DIR") + "\n"
			if strings.Contains(got, marker) {
				t.Errorf("the text repeats a secret:\n%s", got)
			}
			if *update {
				c.write(t, file, got)
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

// badCase is one file of the corpus: sections that begin with "-- name --".
type badCase struct {
	source Source
	dir    string
	want   string
	head   string
}

func readCase(t *testing.T, file string) badCase {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := badCase{dir: t.TempDir(), source: Source{Flags: map[string]string{}}}
	const wantLine = "-- want --\n"
	head, want, ok := strings.Cut(string(b), wantLine)
	if !ok {
		t.Fatalf("%s has no section want", file)
	}
	c.head, c.want = head+wantLine, want
	section := ""
	parts := map[string]string{}
	for line := range strings.Lines(head) {
		if name, found := strings.CutPrefix(line, "-- "); found {
			section = strings.TrimSuffix(strings.TrimSpace(name), " --")
			parts[section] = ""
			continue
		}
		parts[section] += line
	}
	for name, text := range parts {
		switch {
		case name == "config":
			c.put(t, "worker.yaml", text)
		case strings.HasPrefix(name, "file "):
			c.put(t, strings.TrimPrefix(name, "file "), text)
		case name == "env":
			c.source.Environ = strings.Split(strings.TrimSpace(text), "\n")
		case name == "flags":
			for _, f := range strings.Split(strings.TrimSpace(text), "\n") {
				k, v, _ := strings.Cut(f, "=")
				c.source.Flags[k] = v
			}
		default:
			t.Fatalf("%s: unknown section %q", file, name)
		}
	}
	c.source.File = filepath.Join(c.dir, "worker.yaml")
	return c
}

func (c badCase) put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (c badCase) write(t *testing.T, file, got string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(c.head+got), 0o600); err != nil {
		t.Fatal(err)
	}
}
