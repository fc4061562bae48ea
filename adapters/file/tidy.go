package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"flinkscaler/core"
)

// Stops gives the directories directly below a folder.
func (s Savepoints) Stops(ctx context.Context, folder string) ([]core.StopDirectory, error) {
	const op = "list directories of stops"
	dir, err := local(folder)
	if err != nil {
		return nil, failed(op, folder, err)
	}
	out, err := bounded(ctx, func() ([]core.StopDirectory, error) {
		entries, err := os.ReadDir(dir)
		var out []core.StopDirectory
		for _, e := range entries {
			info, gone := e.Info()
			if gone == nil && e.IsDir() {
				out = append(out, core.StopDirectory{Path: strings.TrimRight(folder, "/") + "/" + e.Name(), At: info.ModTime().UTC()})
			}
		}
		return out, err
	})
	if err != nil {
		return nil, failed(op, folder, err)
	}
	return out, nil
}

// Remove deletes one of them.
func (s Savepoints) Remove(ctx context.Context, folder, directory string) error {
	const op = "delete old savepoints"
	above, err := local(folder)
	if err != nil {
		return failed(op, directory, err)
	}
	dir, err := local(directory)
	if err == nil && (filepath.Dir(dir) != above || dir == "/") {
		err = fmt.Errorf("%w: it is not directly below %s", core.ErrRefused, folder)
	}
	if err == nil {
		_, err = bounded(ctx, func() (struct{}, error) { return struct{}{}, remove(dir) })
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return failed(op, directory, err)
}

// remove deletes a directory, no link to one, that holds savepoints alone.
func remove(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%w: it is no directory", core.ErrRefused)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), core.SavepointPrefix) {
			return fmt.Errorf("%w: it holds %s, which is no savepoint", core.ErrRefused, e.Name())
		}
	}
	return os.RemoveAll(dir)
}
