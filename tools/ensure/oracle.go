package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"flinkscaler/e2e/oracle/harness"
)

// oracleTarget is the Java autoscaler with the harness of e2e/oracle: a folder of jars.
type oracleTarget struct {
	e    *ensurer
	hash string
}

func (e *ensurer) oracle() (oracleTarget, error) {
	hash, err := harness.Hash()
	return oracleTarget{e: e, hash: hash}, err
}

func (t oracleTarget) name() string { return "oracle" }

func (t oracleTarget) have(context.Context) (string, bool) {
	folder, err := t.e.cache.FindOracle(t.hash)
	return folder, err == nil
}

func (t oracleTarget) needs() []prerequisite {
	return append(needJDK(), needJava(), needMaven())
}

func (t oracleTarget) intro() string {
	return "fetching the Java autoscaler and compiling its harness (28 MB); usually 10 s to 3 minutes"
}

func (t oracleTarget) make(ctx context.Context, task *task) error {
	if err := os.MkdirAll(t.e.cache.Root(), 0o755); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(t.e.cache.Root(), "oracle-unfinished-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	if err := os.CopyFS(filepath.Join(scratch, "harness"), harness.Sources()); err != nil {
		return err
	}
	if err := t.resolve(ctx, task, scratch); err != nil {
		return err
	}
	task.watch(func() string { return "compiling" })
	if err := t.compile(ctx, scratch); err != nil {
		return err
	}
	return os.Rename(filepath.Join(scratch, "jars"), t.e.cache.Oracle(t.hash))
}

// resolve lets Maven copy the autoscaler and all that it needs into one folder.
func (t oracleTarget) resolve(ctx context.Context, task *task, scratch string) error {
	jars := filepath.Join(scratch, "jars")
	task.watch(func() string { return resolved(jars) })
	if err := t.e.runTool(ctx, copyDependencies(filepath.Join(scratch, "harness", "pom.xml"), jars)); err != nil {
		return fmt.Errorf("resolve the Java autoscaler (%s): %w", needsRepository, err)
	}
	return nil
}

func (t oracleTarget) compile(ctx context.Context, scratch string) error {
	files, err := fs.Glob(harness.Sources(), "src/flinkscaler/oracle/*.java")
	if err != nil {
		return err
	}
	jars := filepath.Join(scratch, "jars")
	path, err := harness.JoinJars(jars)
	if err != nil {
		return err
	}
	classes := filepath.Join(scratch, "classes")
	javac := []string{"javac", "--release", "11", "-proc:none", "-cp", path, "-d", classes}
	for _, file := range files {
		javac = append(javac, filepath.Join(scratch, "harness", filepath.FromSlash(file)))
	}
	if err := t.e.runTool(ctx, command{args: javac}); err != nil {
		return err
	}
	jar := filepath.Join(jars, harness.Jar)
	return t.e.runTool(ctx, command{args: []string{"jar", "--create", "--file", jar, "-C", classes, "."}})
}
