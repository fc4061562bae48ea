package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"

	"flinkscaler/internal/toolcache"
)

// operatorPOM names the operator. A test keeps its versions those of toolcache.
//
//go:embed operator-pom.xml
var operatorPOM []byte

// operatorTarget is the Flink Kubernetes operator: a folder of jars, and one with its CRDs.
type operatorTarget struct{ e *ensurer }

func (operatorTarget) name() string { return "flink-operator" }

func (t operatorTarget) have(context.Context) (string, bool) {
	o, err := t.e.cache.FindFlinkOperator()
	return o.Root, err == nil
}

func (operatorTarget) needs() []prerequisite { return []prerequisite{needJava(), needMaven()} }

func (operatorTarget) intro() string {
	return "fetching the Flink Kubernetes operator (115 MB); usually 10 s to 3 minutes"
}

// make puts everything together beside its place and moves it there when it is whole.
func (t operatorTarget) make(ctx context.Context, task *task) error {
	place := t.e.cache.FlinkOperator()
	unfinished := toolcache.OperatorAt(place.Root + ".unfinished") // the lock is ours: what is there was left by a run that died
	if err := os.RemoveAll(unfinished.Root); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(unfinished.Root) }()
	if err := os.MkdirAll(unfinished.Root, 0o755); err != nil {
		return err
	}
	pom := filepath.Join(unfinished.Root, "pom.xml")
	if err := os.WriteFile(pom, operatorPOM, 0o644); err != nil {
		return err
	}
	task.watch(func() string { return resolved(unfinished.Jars) })
	if err := t.e.runTool(ctx, copyDependencies(pom, unfinished.Jars)); err != nil {
		return fmt.Errorf("resolve the operator (%s): %w", needsRepository, err)
	}
	if err := t.definitions(ctx, pom, unfinished.CRDs); err != nil {
		return err
	}
	return os.Rename(unfinished.Root, place.Root)
}

// definitions unpacks the CRDs, which are published inside the jar of the operator's API. Beside each lies a twin for
// API servers of long ago, which no present one takes.
func (t operatorTarget) definitions(ctx context.Context, pom, crds string) error {
	const inside = "META-INF/fabric8"
	err := t.e.runTool(ctx, maven(pom, "unpack",
		"-Dartifact=org.apache.flink:flink-kubernetes-operator-api:"+toolcache.OperatorCRDVersion,
		"-DoutputDirectory="+crds, "-Dmdep.unpack.includes="+inside+"/*-v1.yml"))
	if err != nil {
		return fmt.Errorf("fetch the operator's CRDs (%s): %w", needsRepository, err)
	}
	found, err := filepath.Glob(filepath.Join(crds, inside, "*-v1.yml"))
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fmt.Errorf("fetch the operator's CRDs: none below %s in the jar", inside)
	}
	for _, file := range found {
		if err := os.Rename(file, filepath.Join(crds, filepath.Base(file))); err != nil {
			return err
		}
	}
	return os.RemoveAll(filepath.Join(crds, "META-INF"))
}
