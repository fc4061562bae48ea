package porttest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/activities"
	"flinkscaler/core"
)

// Storage is where savepoints are, with what puts them there.
type Storage struct {
	Savepoints activities.Savepoints
	// Base is a directory that is there, without savepoints.
	Base string
	// Foreign is a place of another storage.
	Foreign string
	// Put writes the metadata of a savepoint; empty ones are those of one that was
	// begun.
	Put func(t *testing.T, path string, metadata []byte)
	// Break has the storage not answer until mend, nil where it cannot.
	Break func(t *testing.T) (mend func())
}

// RunSavepoints tests what reads savepoints.
func RunSavepoints(t *testing.T, s Storage) {
	t.Helper()
	magic := []byte{0x49, 0x60, 0x67, 0x2d, 0, 0, 0, 6, 1, 2, 3}
	list := func(dir string) ([]string, error) {
		found, err := s.Savepoints.List(t.Context(), dir)
		var paths []string
		for i, f := range found {
			paths = append(paths, f.Path)
			if f.Size == 0 || f.At.IsZero() || f.At.Location() != time.UTC {
				t.Errorf("%s: size %d, at %s", f.Path, f.Size, f.At)
			}
			if i > 0 && f.At.After(found[i-1].At) {
				t.Errorf("%s is newer than the one before it", f.Path)
			}
		}
		return paths, err
	}
	if got, err := list(s.Base); err != nil || len(got) > 0 {
		t.Errorf("an empty directory: %v, %v", got, err)
	}
	_, err := list(s.Base + "/none")
	wantError(t, "a directory that is not there", err, core.ErrNotFound)
	_, err = list(s.Foreign)
	wantError(t, "another storage", err, core.ErrRefused)
	_, err = s.Savepoints.Check(t.Context(), s.Foreign)
	wantError(t, "a savepoint of another storage", err, core.ErrRefused)

	dir := s.Base + "/one"
	s.Put(t, dir+"/savepoint-begun", nil)
	s.Put(t, dir+"/savepoint-other", []byte("no metadata of Flink's"))
	if got, err := list(dir); err != nil || len(got) > 0 {
		t.Errorf("what is no savepoint: %v, %v", got, err)
	}
	_, err = s.Savepoints.Check(t.Context(), dir+"/savepoint-other")
	wantError(t, "what is no savepoint", err, core.ErrRefused)
	_, err = s.Savepoints.Check(t.Context(), dir+"/savepoint-begun")
	if !errors.Is(err, core.ErrNotFound) && !errors.Is(err, core.ErrRefused) {
		t.Errorf("a savepoint that was begun: %v", err)
	}
	s.Put(t, dir+"/savepoint-a", magic)
	got, err := list(dir)
	if diff := cmp.Diff([]string{dir + "/savepoint-a"}, got); err != nil || diff != "" {
		t.Errorf("one savepoint: %v (-want +got):\n%s", err, diff)
	}
	if one, err := s.Savepoints.Check(t.Context(), dir+"/savepoint-a"); err != nil || one.Size != int64(len(magic)) || one.Path != dir+"/savepoint-a" {
		t.Errorf("check: %+v, %v", one, err)
	}
	if s.Break == nil {
		return
	}
	mend := s.Break(t)
	_, err = list(dir)
	wantError(t, "storage that does not answer", err, core.ErrUnreachable)
	mend()
}
