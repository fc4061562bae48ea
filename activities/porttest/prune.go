package porttest

import (
	"slices"
	"testing"

	"flinkscaler/activities"
	"flinkscaler/core"
)

// Prune is a storage that tells its space and deletes savepoints.
type Prune struct {
	Storage
	Spaces activities.Spaces
	Pruner activities.Pruner
}

// RunPrune tests it. Base of the Storage is a directory without savepoints.
func RunPrune(t *testing.T, s Prune) {
	t.Helper()
	t.Run("space", s.space)
	t.Run("stops", s.stops)
	t.Run("remove", s.remove)
}

// space: a directory that is not there yet has what the one above has.
func (s Prune) space(t *testing.T) {
	for _, dir := range []string{s.Base, s.Base + "/not/yet"} {
		got, err := s.Spaces.Space(t.Context(), dir)
		free, known := got.Free.Value()
		if err != nil || !known || free <= 0 || got.Bound == "" || got.Copies < 1 {
			t.Errorf("space of %s: %+v, %v", dir, got, err)
		}
	}
	_, err := s.Spaces.Space(t.Context(), s.Foreign)
	wantError(t, "space of another storage", err, core.ErrRefused)
}

// magic begins every metadata file of Flink.
func magic() []byte { return []byte{0x49, 0x60, 0x67, 0x2d, 0, 0, 0, 6, 1, 2, 3} }

func (s Prune) stops(t *testing.T) {
	folder := s.Base + "/stops"
	_, err := s.Pruner.Stops(t.Context(), folder)
	wantError(t, "a folder that is not there", err, core.ErrNotFound)
	_, err = s.Pruner.Stops(t.Context(), s.Foreign)
	wantError(t, "a folder of another storage", err, core.ErrRefused)
	s.Put(t, folder+"/1-1-aa/savepoint-a", magic())
	s.Put(t, folder+"/2-1-bb", nil)
	s.Put(t, folder, []byte("a file beside them"))
	got, err := s.Pruner.Stops(t.Context(), folder)
	var paths []string
	for _, d := range got {
		paths = append(paths, d.Path)
		if d.At.IsZero() {
			t.Errorf("%s is of no time", d.Path)
		}
	}
	slices.Sort(paths)
	if want := []string{folder + "/1-1-aa", folder + "/2-1-bb"}; err != nil || !slices.Equal(paths, want) {
		t.Errorf("stops %v, %v, want %v", paths, err, want)
	}
}

func (s Prune) remove(t *testing.T) {
	folder, ctx := s.Base+"/remove", t.Context()
	s.Put(t, folder+"/1-1-aa/savepoint-a", magic())
	s.Put(t, folder+"/1-1-aa/savepoint-b", nil)
	s.Put(t, folder+"/2-1-bb/savepoint-a", magic())
	s.Put(t, folder+"/3-1-cc/savepoint-a", magic())
	s.Put(t, folder+"/3-1-cc/shared", nil)
	s.Put(t, folder+"/4-1-dd", magic())
	s.Put(t, s.Base+"/other/1-1-aa/savepoint-a", magic())
	for name, dir := range map[string]string{
		"the folder itself": folder, "one above": s.Base, "deeper": folder + "/1-1-aa/savepoint-a", "of another folder": s.Base + "/other/1-1-aa",
		"by a way around": folder + "/../other/1-1-aa", "what holds more than savepoints": folder + "/3-1-cc", "what holds a file": folder + "/4-1-dd",
		"another storage": s.Foreign, "nothing": "", "the folder by a way around": folder + "/1-1-aa/..",
	} {
		wantError(t, name, s.Pruner.Remove(ctx, folder, dir), core.ErrRefused)
	}
	for range 2 { // one that is gone is no error
		if err := s.Pruner.Remove(ctx, folder, folder+"/1-1-aa"); err != nil {
			t.Errorf("remove: %v", err)
		}
	}
	_, err := s.Savepoints.List(ctx, folder+"/1-1-aa")
	wantError(t, "what was removed", err, core.ErrNotFound)
	for _, dir := range []string{folder + "/2-1-bb", folder + "/3-1-cc", s.Base + "/other/1-1-aa"} {
		if found, err := s.Savepoints.List(ctx, dir); err != nil || len(found) != 1 {
			t.Errorf("%s was touched: %v, %v", dir, found, err)
		}
	}
}
