package view

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// golden compares text with testdata/<name>.txt: its first line is the reason
// for the case, the rest is expected. UPDATE_GOLDEN=1 writes what was got.
func golden(t *testing.T, name, reason, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	got = "# " + reason + "\n" + got
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file) //nolint:gosec // a test's own file
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", reason, diff)
	}
}

// visible makes what moves the cursor or colours visible.
func visible(s string) string {
	return strings.NewReplacer("\x1b", "<ESC>", "\r", "<CR>").Replace(s)
}
