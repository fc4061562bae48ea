package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// unpackArchive takes the parts of a Flink distribution out of a wheel or a source archive.
func unpackArchive(ctx context.Context, archive, home string) error {
	if strings.HasSuffix(archive, ".whl") {
		return unpackWheel(ctx, archive, home)
	}
	if strings.HasSuffix(archive, ".tar.gz") {
		return unpackSource(ctx, archive, home)
	}
	return errors.New("neither a wheel nor a .tar.gz")
}

// unpackWheel: a wheel holds pyflink/{bin,conf,lib,plugins}.
func unpackWheel(ctx context.Context, archive, home string) error {
	reader, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer func() { _ = reader.Close() }()
	for _, file := range reader.File {
		path, wanted := wheelPath(file.Name)
		if !wanted {
			continue
		}
		content, err := file.Open()
		if err != nil {
			return fmt.Errorf("%s: %w", file.Name, err)
		}
		if err := errors.Join(place(ctx, home, path, content), content.Close()); err != nil {
			return fmt.Errorf("%s: %w", file.Name, err)
		}
	}
	return nil
}

// unpackSource: a source archive holds NAME-VERSION/deps/{bin,lib,plugins}.
func unpackSource(ctx context.Context, archive, home string) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	reader := tar.NewReader(unzipped)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		path, wanted := sourcePath(header.Name)
		if !wanted || header.Typeflag != tar.TypeReg {
			continue
		}
		if err := place(ctx, home, path, reader); err != nil {
			return fmt.Errorf("%s: %w", header.Name, err)
		}
	}
}

// wheelPath turns a name in a wheel into a path in FLINK_HOME.
func wheelPath(name string) (string, bool) {
	path, inside := strings.CutPrefix(name, "pyflink/")
	return path, inside && inHome(path)
}

// sourcePath turns a name in a source archive into a path in FLINK_HOME.
func sourcePath(name string) (string, bool) {
	_, below, _ := strings.Cut(name, "/")
	path, inside := strings.CutPrefix(below, "deps/")
	return path, inside && inHome(path)
}

// inHome picks what a distribution consists of, without the table, CEP, CSV and Scala jars: half of its size, and
// DataStream jobs need none of it.
func inHome(path string) bool {
	if strings.HasSuffix(path, "/") || !filepath.IsLocal(path) {
		return false
	}
	for _, unused := range []string{"lib/flink-table", "lib/flink-cep", "lib/flink-csv", "lib/flink-scala"} {
		if strings.HasPrefix(path, unused) {
			return false
		}
	}
	folder, _, nested := strings.Cut(path, "/")
	switch folder {
	case "bin", "conf", "lib", "plugins":
		return nested
	default:
		return false
	}
}

// place writes one file. Packages lose the executable bit of scripts, so it is put back on everything in bin.
func place(ctx context.Context, home, path string, content io.Reader) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if strings.HasPrefix(path, "bin/") {
		mode = 0o755
	}
	target := filepath.Join(home, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(target, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}
