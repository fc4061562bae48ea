package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"

	"flinkscaler/internal/toolcache"
)

// The jars of a Hadoop release, by what they are for. Maven gets the release as a property.
//
//go:embed hadoop-daemons-pom.xml
var hadoopDaemonsPOM []byte

//go:embed hadoop-client-pom.xml
var hadoopClientPOM []byte

// hadoopTarget is what HDFS and YARN run from, and what Flink needs to use them.
type hadoopTarget struct {
	e       *ensurer
	version string
}

// hadoop takes the pinned release when none is named.
func (e *ensurer) hadoop(name, version string) ([]target, error) {
	if name == "hadoop" {
		version = toolcache.Hadoop
	}
	if _, err := toolcache.ParseVersion(version); err != nil {
		return nil, fmt.Errorf("target %s: %w", name, err)
	}
	return []target{hadoopTarget{e: e, version: version}}, nil
}

func (t hadoopTarget) name() string { return "hadoop:" + t.version }

func (t hadoopTarget) have(context.Context) (string, bool) {
	h, err := t.e.cache.FindHadoop(t.version)
	return h.Root, err == nil
}

func (hadoopTarget) needs() []prerequisite { return []prerequisite{needJava(), needMaven()} }

func (hadoopTarget) intro() string {
	return "fetching HDFS, YARN and their client (150 MB); usually 10 s to 3 minutes"
}

// make puts everything together beside its place and moves it there when it is whole.
func (t hadoopTarget) make(ctx context.Context, task *task) error {
	place := t.e.cache.HadoopDist(t.version)
	unfinished := toolcache.HadoopAt(place.Root + ".unfinished") // the lock is ours: what is there was left by a run that died
	if err := os.RemoveAll(unfinished.Root); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(unfinished.Root) }()
	if err := t.resolve(ctx, task, hadoopDaemonsPOM, unfinished.Daemons); err != nil {
		return fmt.Errorf("resolve the daemons of Hadoop (%s): %w", needsRepository, err)
	}
	if err := t.resolve(ctx, task, hadoopClientPOM, unfinished.Client); err != nil {
		return fmt.Errorf("resolve the client of Hadoop (%s): %w", needsRepository, err)
	}
	return os.Rename(unfinished.Root, place.Root)
}

func (t hadoopTarget) resolve(ctx context.Context, task *task, pom []byte, jars string) error {
	if err := os.MkdirAll(jars, 0o755); err != nil {
		return err
	}
	file := filepath.Join(jars, "pom.xml")
	if err := os.WriteFile(file, pom, 0o644); err != nil {
		return err
	}
	task.watch(func() string { return resolved(jars) })
	maven := copyDependencies(file, jars)
	maven.args = append(maven.args, "-Dhadoop.version="+t.version)
	return t.e.runTool(ctx, maven)
}
