package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommandNames(t *testing.T) {
	t.Parallel()
	help := `tool does things.

Usage:
  tool [command]

Examples:
  tool start  now

Look:
  list           List
  clear-override End an override

Additional Commands:
  completion     Scripts
  help           Help

Flags:
  -h, --help   help
  verbose      no command
`
	if diff := cmp.Diff([]string{"list", "clear-override"}, commandNames(help)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSettle: a page that is old or missing is reported by a check, and written
// without one; a page that is in step is left alone.
func TestSettle(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	pages := map[string]string{"docs/a.md": "new\n", "docs/b.md": "b\n", "docs/c.md": "c\n"}
	for name, text := range map[string]string{"a.md": "old\n", "b.md": "b\n"} {
		if err := write(filepath.Join(root, "docs", name), text); err != nil {
			t.Fatal(err)
		}
	}
	err := settle(root, pages, true)
	if err == nil || !strings.Contains(err.Error(), "docs/a.md") || !strings.Contains(err.Error(), "docs/c.md") || strings.Contains(err.Error(), "docs/b.md") {
		t.Errorf("the check says %v, want a.md and c.md", err)
	}
	if b, _ := os.ReadFile(filepath.Join(root, "docs", "a.md")); string(b) != "old\n" {
		t.Errorf("the check wrote %q", b)
	}
	if err := settle(root, pages, false); err != nil {
		t.Fatal(err)
	}
	if err := settle(root, pages, true); err != nil {
		t.Errorf("after writing the check says %v", err)
	}
}
