package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"flinkscaler/internal/toolcache"
)

// flinkTarget is an unpacked Flink distribution, put together from the two packages that PyFlink ships: apache-flink
// has the scripts and the configuration, apache-flink-libraries the jars. Their union is a working FLINK_HOME.
type flinkTarget struct {
	e       *ensurer
	version string
}

func (t flinkTarget) name() string { return "flink:" + t.version }

func (t flinkTarget) have(context.Context) (string, bool) {
	home, err := t.e.cache.FindFlinkHome(t.version)
	return home, err == nil
}

// needs asks for java too: nobody wants a Flink that cannot be started.
func (t flinkTarget) needs() []prerequisite { return []prerequisite{needPip(), needJava()} }

func (t flinkTarget) intro() string {
	return "downloading and unpacking a Flink distribution (230 to 330 MB); usually half a minute to 5 minutes"
}

func (t flinkTarget) make(ctx context.Context, task *task) error {
	archives, err := t.download(ctx, task)
	if err != nil {
		return err
	}
	task.watch(func() string { return "unpacking" })
	if err := t.unpack(ctx, archives); err != nil {
		// A damaged archive would fail every time. Without it the next run downloads it anew.
		removeAll(archives)
		return fmt.Errorf("%w (the archives were removed; run it again to download them anew)", err)
	}
	removeAll(archives)
	return nil
}

// pythonPackage is one of the two packages.
type pythonPackage struct {
	name    string
	pattern string   // of the archive in the downloads folder
	options []string // of pip download
}

func (t flinkTarget) packages() []pythonPackage {
	return []pythonPackage{
		{
			name:    "apache-flink",
			pattern: "apache_flink-" + t.version + "-*.whl",
			options: t.wheelOptions(),
		},
		{
			// A source archive for Flink 1, a wheel for Flink 2. pip runs the build of the former for its metadata,
			// so it needs pip's build isolation, which is the default.
			name:    "apache-flink-libraries",
			pattern: "apache?flink?libraries-" + t.version + `[\-.]*`, // with dashes in old releases
		},
	}
}

// wheelOptions choose one of the wheels that exist for each Python version and machine. Only their scripts and
// configuration are used, in which all are the same, so the choice does not depend on this machine.
func (t flinkTarget) wheelOptions() []string {
	python, abi := "3.11", "cp311"
	if version, err := toolcache.ParseVersion(t.version); err == nil && !version.AtLeast(toolcache.Version{Major: 1, Minor: 19}) {
		python, abi = "3.10", "cp310" // the newest that Flink 1.18 has a wheel for
	}
	return []string{
		"--python-version", python, "--implementation", "cp", "--abi", abi,
		"--platform", "manylinux2014_x86_64", "--only-binary=:all:",
	}
}

// download returns the archives of both packages, from the downloads folder when they are there.
func (t flinkTarget) download(ctx context.Context, task *task) ([]string, error) {
	var archives []string
	for _, p := range t.packages() {
		archive, err := t.archive(p)
		if errors.Is(err, fs.ErrNotExist) {
			archive, err = t.fetch(ctx, task, p)
		}
		if err != nil {
			return nil, err
		}
		archives = append(archives, archive)
	}
	return archives, nil
}

// archive finds a package's archive in the downloads folder.
func (t flinkTarget) archive(p pythonPackage) (string, error) {
	return findArchive(t.e.cache.Downloads(), p.pattern)
}

func findArchive(folder, pattern string) (string, error) {
	found, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", fmt.Errorf("find %s: %w", pattern, fs.ErrNotExist)
	}
	return found[0], nil
}

// fetch downloads into a folder of its own and moves the archive out of it when it is whole.
func (t flinkTarget) fetch(ctx context.Context, task *task, p pythonPackage) (string, error) {
	downloads := t.e.cache.Downloads()
	if err := os.MkdirAll(downloads, 0o755); err != nil {
		return "", err
	}
	unfinished, err := os.MkdirTemp(downloads, "unfinished-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(unfinished) }()
	task.watch(func() string {
		return fmt.Sprintf("downloading %s %s, %d MB so far", p.name, t.version, largestFile(unfinished)/1_000_000)
	})
	if err := t.e.runTool(ctx, t.pip(unfinished, p)); err != nil {
		return "", fmt.Errorf("download %s %s (needs the Python package index; run it again when it answers): %w", p.name, t.version, err)
	}
	archive, err := findArchive(unfinished, p.pattern)
	if err != nil {
		return "", err
	}
	place := filepath.Join(downloads, filepath.Base(archive))
	return place, os.Rename(archive, place)
}

// pip writes its own temporary files into the same folder: that is where the bytes arrive, so there they can be
// counted. Its cache is off, since it would keep a second copy of what is unpacked once.
func (t flinkTarget) pip(folder string, p pythonPackage) command {
	args := []string{
		"python3", "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--progress-bar", "off",
		"--disable-pip-version-check", "-d", folder,
	}
	args = append(args, p.options...)
	return command{env: []string{"TMPDIR=" + folder}, args: append(args, p.name+"=="+t.version)}
}

// unpack builds the distribution beside its place and moves it there when it is whole.
func (t flinkTarget) unpack(ctx context.Context, archives []string) error {
	home := t.e.cache.FlinkHome(t.version)
	unfinished := home + ".unfinished" // the lock is ours: what is there was left by a run that died
	if err := os.RemoveAll(unfinished); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(unfinished) }()
	for _, archive := range archives {
		if err := unpackArchive(ctx, archive, unfinished); err != nil {
			return fmt.Errorf("unpack %s: %w", filepath.Base(archive), err)
		}
	}
	if _, err := findArchive(filepath.Join(unfinished, "lib"), "flink-dist*.jar"); err != nil {
		return fmt.Errorf("unpack flink %s: no flink-dist jar in the packages: %w", t.version, err)
	}
	return os.Rename(unfinished, home)
}

func removeAll(files []string) {
	for _, file := range files {
		_ = os.Remove(file) // a leftover costs space only
	}
}

// largestFile is the size of the archive that pip is writing: everything else it makes there is smaller. What vanishes
// meanwhile counts as nothing.
func largestFile(folder string) int64 {
	var largest int64
	_ = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil //nolint:nilerr // see above
		}
		if info, err := entry.Info(); err == nil {
			largest = max(largest, info.Size())
		}
		return nil
	})
	return largest
}
