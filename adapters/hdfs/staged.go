package hdfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"flinkscaler/core"
)

// Exists is core.ErrNotFound for what is not there.
func (s *Storage) Exists(ctx context.Context, place string) error {
	const op = "look for"
	at, err := s.places.find(place)
	if err != nil {
		return s.failed(op, place, err)
	}
	_, err = ask(ctx, s, at, func(c client) (struct{}, error) {
		_, err := c.Stat(at.path)
		return struct{}{}, err
	})
	return s.failed(op, place, err)
}

// leastDepth keeps what is removed away from the top of the tree.
const leastDepth = 2

// Unstage removes a folder with all that is in it. One that is not there is none to it.
func (s *Storage) Unstage(ctx context.Context, folder string) error {
	const op = "remove"
	at, err := s.places.find(folder)
	if err != nil {
		return s.failed(op, folder, err)
	}
	switch {
	case slices.Contains(strings.Split(folder, "/"), ".."):
		return s.failed(op, folder, fmt.Errorf("%w: it has .. in it", core.ErrRefused))
	case strings.Count(strings.Trim(at.path, "/"), "/")+1 < leastDepth:
		return s.failed(op, folder, fmt.Errorf("%w: it is too near to the top", core.ErrRefused))
	}
	_, err = ask(ctx, s, at, func(c client) (struct{}, error) {
		err := c.RemoveAll(at.path)
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return struct{}{}, err
	})
	return s.failed(op, folder, err)
}
