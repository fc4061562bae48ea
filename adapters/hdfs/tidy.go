package hdfs

import (
	"context"
	"fmt"
	"path"
	"strings"

	"flinkscaler/core"
)

// Stops gives the directories directly below a folder.
func (s *Storage) Stops(ctx context.Context, folder string) ([]core.StopDirectory, error) {
	const op = "list directories of stops"
	at, err := s.places.find(folder)
	if err != nil {
		return nil, s.failed(op, folder, err)
	}
	out, err := ask(ctx, s, at, func(c client) ([]core.StopDirectory, error) {
		all, err := entries(c, at.path)
		var out []core.StopDirectory
		for _, e := range all {
			if e.IsDir() {
				out = append(out, core.StopDirectory{Path: strings.TrimRight(folder, "/") + "/" + e.Name(), At: e.ModTime().UTC()})
			}
		}
		return out, err
	})
	return out, s.failed(op, folder, err)
}

// Remove deletes one of them, past the trash.
func (s *Storage) Remove(ctx context.Context, folder, directory string) error {
	const op = "delete old savepoints"
	at, err := s.places.find(folder)
	if err != nil {
		return s.failed(op, directory, err)
	}
	own, err := s.places.find(directory)
	if err == nil && (own.authority != at.authority || path.Dir(own.path) != at.path || own.path == "/") {
		err = fmt.Errorf("%w: it is not directly below %s", core.ErrRefused, folder)
	}
	if err != nil {
		return s.failed(op, directory, err)
	}
	_, err = ask(ctx, s, at, func(c client) (struct{}, error) {
		all, err := entries(c, own.path)
		if err != nil {
			return struct{}{}, err
		}
		for _, e := range all {
			if !e.IsDir() || !strings.HasPrefix(e.Name(), core.SavepointPrefix) {
				return struct{}{}, fmt.Errorf("%w: it holds %s, which is no savepoint", core.ErrRefused, e.Name())
			}
		}
		return struct{}{}, c.RemoveAll(own.path)
	})
	if err = s.failed(op, directory, err); isGone(err) {
		return nil
	}
	return err
}
