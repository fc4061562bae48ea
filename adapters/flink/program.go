package flink

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"flinkscaler/core"
)

// Redeploy says how jobs of a session cluster are stopped and submitted again.
// The zero value: not at all.
type Redeploy struct {
	// Savepoints is the directory that each stop gets a directory of its own in: a
	// URL, or an absolute path. The cluster writes there, the worker reads.
	Savepoints string
	// Jobs are programs by the names of their jobs.
	Jobs map[string]Program
	// Section is where the worker's file has all this, for errors; flink.redeploy where
	// it is empty.
	Section string
}

func (r Redeploy) section() string { return cmp.Or(r.Section, "flink.redeploy") }

// Program is how one job is submitted.
type Program struct {
	// Jar is the name of an uploaded jar, the newest of that name, or its id.
	Jar string
	// EntryClass is the main class, empty for the one of the jar's manifest.
	EntryClass string
	// Args of the main method. They may hold secrets and are never shown.
	// ${parallelism:<vertex>} in one stands for the size of a vertex, which is named
	// by its id, its name, or the first operator in its name.
	Args []string
	// Parallelism is the job's default, 0 for the cluster's. It has to be what the
	// job was first submitted with: operators are chained by it.
	Parallelism int
}

// problems lists what is wrong, each with the path of its setting. It repeats no
// argument.
func (r Redeploy) problems() []error {
	var out []error
	add := func(format string, args ...any) { out = append(out, fmt.Errorf(format, args...)) }
	if r.Savepoints == "" && len(r.Jobs) == 0 {
		return nil
	}
	scheme, _, hasScheme := strings.Cut(r.Savepoints, ":")
	switch {
	case r.Savepoints == "":
		add("redeploy.savepoints: is missing; give the directory for savepoints, such as file:///savepoints")
	case hasScheme && scheme != "" && !strings.Contains(scheme, "/"):
	case !path.IsAbs(r.Savepoints):
		add("redeploy.savepoints: must be a URL such as file:///savepoints, or an absolute path")
	}
	if len(r.Jobs) == 0 {
		add("redeploy.jobs: names no job; give its jar as {<job name>: {jar: ...}}")
	}
	for name, p := range r.Jobs {
		at := "redeploy.jobs." + name
		if name == "" {
			add("redeploy.jobs: a job must have a name")
		}
		if p.Jar == "" {
			add("%s.jar: is missing; give the name of the uploaded jar, or its id", at)
		}
		if strings.Contains(p.Jar, "/") {
			add("%s.jar: must be the name of an uploaded jar or its id, not a path", at)
		}
		if p.Parallelism < 0 {
			add("%s.parallelism: must not be negative, got %d", at, p.Parallelism)
		}
		for i, a := range p.Args {
			if err := each(a, func(string) error { return nil }); err != nil {
				add("%s.args[%d]: %w", at, i, err)
			}
		}
	}
	return out
}

// A placeholder for a size in an argument.
const (
	opens  = "${parallelism:"
	closes = "}"
)

// each calls do with the key of every placeholder of an argument.
func each(arg string, do func(key string) error) error {
	for {
		_, rest, found := strings.Cut(arg, opens)
		if !found {
			return nil
		}
		key, after, closed := strings.Cut(rest, closes)
		switch {
		case !closed:
			return errors.New("a ${parallelism: that is not closed")
		case key == "":
			return errors.New("a ${parallelism:} that names no vertex")
		}
		if err := do(key); err != nil {
			return err
		}
		arg = after
	}
}

func placeholders(args []string) []string {
	var keys []string
	for _, a := range args {
		_ = each(a, func(key string) error { keys = append(keys, key); return nil })
	}
	return keys
}

// Unspeakable are the arguments that an error must not repeat, as a program does
// that does not like one: any may be a secret, but for the names of options and for
// what all may read, such as the job's name.
func Unspeakable(args []string, public ...string) []string {
	const least = 5 // shorter ones are numbers and flags, and parts of other words
	var out []string
	for _, a := range args {
		if name, value, ok := strings.Cut(a, "="); ok && strings.HasPrefix(name, "-") {
			a = value
		}
		if len(a) >= least && !strings.HasPrefix(a, "-") && !slices.Contains(public, a) {
			out = append(out, a)
		}
	}
	return out
}

// means is true where a key names the vertex.
func means(key string, v core.SubmittedVertex) bool {
	return key == v.ID || key == v.Name || key == shortName(v.Name)
}

// shortName is the first operator of a chain.
func shortName(name string) string {
	first, _, _ := strings.Cut(name, " -> ")
	return first
}

// Expand puts the sizes into the arguments.
func Expand(args []string, vertices []core.SubmittedVertex) ([]string, error) {
	out := make([]string, 0, len(args))
	for _, a := range args {
		text := a
		err := each(a, func(key string) error {
			found, p := 0, 0
			for _, v := range vertices {
				if means(key, v) {
					found, p = found+1, v.Parallelism
				}
			}
			if found != 1 {
				return fmt.Errorf("%w: an argument of the program wants the size of %q, which is the name of %d vertices of the job; give its id", core.ErrRefused, key, found)
			}
			text = strings.ReplaceAll(text, opens+key+closes, strconv.Itoa(p))
			return nil
		})
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

// CheckPlaceholders says what is wrong with the placeholders of an argument, nil for
// nothing. It repeats nothing of it.
func CheckPlaceholders(arg string) error { return each(arg, func(string) error { return nil }) }
