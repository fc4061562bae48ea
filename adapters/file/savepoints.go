package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flinkscaler/core"
)

// Savepoints reads savepoints of a local file system. The zero value is ready.
type Savepoints struct{}

// metadata is the file that Flink writes last: with it a savepoint is complete.
const metadata = "_metadata"

// magic begins every metadata file of Flink.
var magic = []byte{0x49, 0x60, 0x67, 0x2d} //nolint:gochecknoglobals // a constant

// List gives the complete savepoints in a directory, newest first.
func (s Savepoints) List(ctx context.Context, directory string) ([]core.Savepoint, error) {
	dir, err := local(directory)
	if err != nil {
		return nil, failed("list savepoints", directory, err)
	}
	entries, err := bounded(ctx, func() ([]os.DirEntry, error) { return os.ReadDir(dir) })
	if err != nil {
		return nil, failed("list savepoints", directory, err)
	}
	var out []core.Savepoint
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		switch found, err := s.Check(ctx, strings.TrimRight(directory, "/")+"/"+e.Name()); {
		case err == nil:
			out = append(out, found)
		case errors.Is(err, core.ErrUnreachable):
			return nil, err
		}
	}
	slices.SortStableFunc(out, func(a, b core.Savepoint) int { return b.At.Compare(a.At) })
	return out, nil
}

// Check reads one savepoint.
func (s Savepoints) Check(ctx context.Context, path string) (core.Savepoint, error) {
	dir, err := local(path)
	if err != nil {
		return core.Savepoint{}, failed("check savepoint", path, err)
	}
	found, err := bounded(ctx, func() (core.Savepoint, error) { return read(filepath.Join(dir, metadata)) })
	if err != nil {
		return core.Savepoint{}, failed("check savepoint", path, err)
	}
	found.Path = path
	return found, nil
}

func read(name string) (core.Savepoint, error) {
	f, err := os.Open(name)
	if err != nil {
		return core.Savepoint{}, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return core.Savepoint{}, err
	}
	first := make([]byte, len(magic))
	_, err = io.ReadFull(f, first)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), err == nil && !bytes.Equal(first, magic):
		return core.Savepoint{}, fmt.Errorf("%w: its %s is none of Flink's", core.ErrRefused, metadata)
	case err != nil:
		return core.Savepoint{}, err
	}
	return core.Savepoint{At: info.ModTime().UTC(), Size: info.Size()}, nil
}

// bounded lets a call that the file system holds, as a mount that is away does,
// end with the ctx.
func bounded[T any](ctx context.Context, call func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	if ctx.Err() != nil {
		return none, fmt.Errorf("%w: %w", core.ErrUnreachable, context.Cause(ctx))
	}
	done := make(chan answer, 1)
	go func() {
		v, err := call()
		done <- answer{v, err}
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
		return none, fmt.Errorf("%w: %w", core.ErrUnreachable, context.Cause(ctx))
	}
}

// local gives the path of a place: an absolute path, or a URL of the scheme file
// as Flink writes it, file:/a or file:///a.
func local(place string) (string, error) {
	if filepath.IsAbs(place) {
		return filepath.Clean(place), nil
	}
	u, err := url.Parse(place)
	if err != nil || u.Scheme != "file" || u.Host != "" || !filepath.IsAbs(u.Path) {
		return "", fmt.Errorf("%w: it is no absolute path and no file URL", core.ErrRefused)
	}
	return filepath.Clean(u.Path), nil
}

// failed gives an error one of core's meanings.
func failed(op, place string, err error) error {
	meaning := core.ErrUnreachable
	for _, m := range []error{core.ErrRefused, core.ErrUnreachable} {
		if errors.Is(err, m) {
			return &core.OpError{Op: op, Subject: place, Err: err}
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		meaning = core.ErrNotFound
	case errors.Is(err, fs.ErrPermission):
		meaning = core.ErrRefused
	}
	var inner *fs.PathError // its text repeats the path
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return &core.OpError{Op: op, Subject: place, Err: fmt.Errorf("%w: %s", meaning, err.Error())}
}
