package file_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"flinkscaler/activities/porttest"
	"flinkscaler/adapters/file"
	"flinkscaler/core"
)

func TestSpaceAndTidy(t *testing.T) {
	t.Parallel()
	for name, prefix := range map[string]string{"a path": "", "a URL": "file://"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			porttest.RunPrune(t, porttest.Prune{
				Storage: porttest.Storage{
					Savepoints: file.Savepoints{}, Base: prefix + t.TempDir(), Foreign: "hdfs://nn/savepoints",
					Put: func(t *testing.T, path string, metadata []byte) { put(t, strings.TrimPrefix(path, prefix), metadata) },
				},
				Spaces: file.Savepoints{}, Pruner: file.Savepoints{},
			})
		})
	}
}

// TestALinkIsNotFollowed: what it leads to is not ours.
func TestALinkIsNotFollowed(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	put(t, filepath.Join(base, "theirs", "savepoint-a"), []byte{0x49, 0x60, 0x67, 0x2d})
	put(t, filepath.Join(base, "ours"), nil)
	if err := os.Symlink(filepath.Join(base, "theirs"), filepath.Join(base, "ours", "1-1-aa")); err != nil {
		t.Fatal(err)
	}
	if err := (file.Savepoints{}).Remove(t.Context(), base+"/ours", base+"/ours/1-1-aa"); !errors.Is(err, core.ErrRefused) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(base, "theirs", "savepoint-a", "_metadata")); err != nil {
		t.Error(err)
	}
}
