package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"flinkscaler/e2e/testjob"
	"flinkscaler/internal/toolcache"
)

// testJobTarget is the jar of e2e/testjob.
type testJobTarget struct {
	e    *ensurer
	hash string
}

func (e *ensurer) testJob() (testJobTarget, error) {
	hash, err := testjob.Hash()
	return testJobTarget{e: e, hash: hash}, err
}

func (t testJobTarget) name() string { return "testjob" }

func (t testJobTarget) have(context.Context) (string, bool) {
	jar, err := t.e.cache.FindTestJob(t.hash)
	return jar, err == nil
}

func (t testJobTarget) needs() []prerequisite { return needJDK() }

func (t testJobTarget) intro() string { return "compiling the Java test job; usually 5 to 20 s" }

func (t testJobTarget) make(ctx context.Context, task *task) error {
	home, err := t.e.cache.FindFlinkHome(toolcache.Flink1)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(t.e.cache.Root(), "testjob-unfinished-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	task.watch(func() string { return "compiling" })
	jar, err := t.build(ctx, scratch, home)
	if err != nil {
		return err
	}
	return os.Rename(jar, t.e.cache.TestJob(t.hash))
}

// build compiles for Java 11, the oldest that the supported Flink versions run on.
func (t testJobTarget) build(ctx context.Context, scratch, home string) (string, error) {
	files, err := writeSources(filepath.Join(scratch, "src"))
	if err != nil {
		return "", fmt.Errorf("write sources: %w", err)
	}
	classes := filepath.Join(scratch, "classes")
	javac := []string{
		"javac", "--release", "11", "-proc:none",
		"-cp", filepath.Join(home, "lib", "*"), "-d", classes,
	}
	if err := t.e.runTool(ctx, command{args: append(javac, files...)}); err != nil {
		return "", err
	}
	jar := filepath.Join(scratch, "testjob.jar")
	pack := []string{"jar", "--create", "--file", jar, "--main-class", testjob.MainClass, "-C", classes, "."}
	return jar, t.e.runTool(ctx, command{args: pack})
}

// writeSources writes the embedded sources to disk and returns their paths.
func writeSources(folder string) ([]string, error) {
	sources, err := testjob.Sources()
	if err != nil {
		return nil, err
	}
	if err := os.CopyFS(folder, sources); err != nil {
		return nil, err
	}
	paths, err := fs.Glob(sources, "flinkscaler/testjob/*.java")
	for i, path := range paths {
		paths[i] = filepath.Join(folder, filepath.FromSlash(path))
	}
	return paths, err
}
