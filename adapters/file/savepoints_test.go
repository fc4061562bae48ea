package file_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"flinkscaler/activities/porttest"
	"flinkscaler/adapters/file"
)

// TestSavepoints: the contract, for each spelling of a place that Flink knows.
func TestSavepoints(t *testing.T) {
	t.Parallel()
	for name, prefix := range map[string]string{"a path": "", "as Flink writes it": "file:", "a URL": "file://"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			porttest.RunSavepoints(t, porttest.Storage{
				Savepoints: file.Savepoints{}, Base: prefix + t.TempDir(), Foreign: "hdfs://nn/savepoints",
				Put: func(t *testing.T, path string, metadata []byte) { put(t, strings.TrimPrefix(path, prefix), metadata) },
			})
		})
	}
}

func put(t *testing.T, dir string, metadata []byte) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	if metadata == nil {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, "_metadata"), metadata, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestTheNewestIsFirst, whatever it is called.
func TestTheNewestIsFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, name := range []string{"savepoint-z", "savepoint-a", "savepoint-m"} {
		put(t, filepath.Join(dir, name), []byte{0x49, 0x60, 0x67, 0x2d})
		at := time.Date(2026, 11, 30, 12, i, 0, 0, time.UTC)
		if err := os.Chtimes(filepath.Join(dir, name, "_metadata"), at, at); err != nil {
			t.Fatal(err)
		}
	}
	found, err := file.Savepoints{}.List(t.Context(), dir)
	if err != nil || len(found) != 3 || !strings.HasSuffix(found[0].Path, "savepoint-m") {
		t.Errorf("found %+v, %v", found, err)
	}
}
