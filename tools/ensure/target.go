package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"flinkscaler/internal/toolcache"
)

// knownTargets is shown to whoever asks for another.
const knownTargets = "temporal, tctl, flink:VERSION, testjob, oracle, kube, render, flink-operator, hadoop[:VERSION], krb5"

// target is one thing in the cache.
type target interface {
	// name is what the command line calls it.
	name() string
	// have says where it is when it is there already.
	have(ctx context.Context) (where string, ok bool)
	// needs lists the programs that make it.
	needs() []prerequisite
	// intro says what is going to happen and how long that usually takes.
	intro() string
	// make makes it. It must leave nothing at its place unless it is whole.
	make(ctx context.Context, task *task) error
}

// targets resolves names, puts before each what it needs, and drops repetitions. All unknown names are reported.
func (e *ensurer) targets(names []string) ([]target, error) {
	var found []target
	var problems []error
	add := func(t target) {
		if !slices.ContainsFunc(found, func(other target) bool { return other.name() == t.name() }) {
			found = append(found, t)
		}
	}
	for _, name := range names {
		resolved, err := e.resolve(name)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		for _, t := range resolved {
			add(t)
		}
	}
	return found, errors.Join(problems...)
}

func (e *ensurer) resolve(name string) ([]target, error) {
	kind, version, hasVersion := strings.Cut(name, ":")
	switch {
	case name == "temporal":
		return []target{e.temporal()}, nil
	case name == "tctl":
		return []target{e.tctl()}, nil
	case name == "testjob":
		return e.testJobTargets()
	case name == "oracle":
		o, err := e.oracle()
		return []target{o}, err
	case name == "kube":
		return e.kube(), nil
	case name == "render":
		return e.render(), nil
	case name == "flink-operator":
		return []target{operatorTarget{e: e}}, nil
	case kind == "hadoop":
		return e.hadoop(name, version)
	case name == "krb5":
		return []target{krb5Target{e: e}}, nil
	case kind == "flink" && hasVersion:
		if _, err := toolcache.ParseVersion(version); err != nil {
			return nil, fmt.Errorf("target %s: %w", name, err)
		}
		return []target{flinkTarget{e: e, version: version}}, nil
	default:
		return nil, fmt.Errorf("target %s: unknown; known are %s", name, knownTargets)
	}
}

// testJobTargets puts the Flink that the job is compiled against first, unless the jar is there.
func (e *ensurer) testJobTargets() ([]target, error) {
	job, err := e.testJob()
	if err != nil {
		return nil, err
	}
	if _, ok := job.have(context.Background()); ok {
		return []target{job}, nil
	}
	return []target{flinkTarget{e: e, version: toolcache.Flink1}, job}, nil
}
