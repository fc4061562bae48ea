package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"flinkscaler/core/spec"
	"flinkscaler/internal/flags"
)

// input is one job to start, checked.
type input struct {
	// line is where it stands in a file, 0 for flags.
	line int
	raw  json.RawMessage
	spec spec.Spec
}

// maxLine is far above what an input may need, and below the server's limit of
// a payload.
const maxLine = 1 << 20

// readInputs reads one JSON input per line; blank lines and those that begin
// with # are skipped. Every problem of every line is found.
func readInputs(r io.Reader) ([]input, []string, error) {
	var inputs []input
	var problems []string
	seen := map[string]int{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		text := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\ufeff")))
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		in, found := decodeInput(text)
		in.line = n
		for _, p := range found {
			problems = append(problems, fmt.Sprintf("line %d: %s", n, p))
		}
		id := spec.ID(in.spec.Key)
		if first, twice := seen[id]; twice && len(found) == 0 {
			problems = append(problems, fmt.Sprintf("line %d: %s is on line %d already", n, in.spec.Key, first))
		} else if len(found) == 0 {
			seen[id] = n
		}
		inputs = append(inputs, in)
	}
	if err := lines.Err(); err != nil {
		return nil, nil, fmt.Errorf("line %d: %w", n+1, err)
	}
	return inputs, problems, nil
}

// decodeInput checks one input and keeps it as it was typed.
func decodeInput(text []byte) (input, []string) {
	checked, found := spec.Decode(text)
	var problems []string
	for _, p := range found {
		problems = append(problems, p.String())
	}
	var raw bytes.Buffer
	if len(found) == 0 {
		if err := json.Compact(&raw, spec.Unwrap(text)); err != nil {
			problems = append(problems, err.Error())
		}
	}
	return input{raw: raw.Bytes(), spec: checked}, problems
}

// startFlags are the flags for one job.
type startFlags struct {
	cluster, job, jobName string
	policy                []string
}

// given is true when any of them is set.
func (f startFlags) given() bool {
	return f.cluster != "" || f.job != "" || f.jobName != "" || len(f.policy) > 0
}

// input makes the JSON that the flags stand for, and checks it.
func (f startFlags) input() (input, []string) {
	doc := map[string]any{}
	var problems []string
	for k, v := range map[string]string{"cluster": f.cluster, "job": f.job} {
		if v != "" {
			doc[k] = v
		}
	}
	if f.jobName != "" {
		doc["target"] = map[string]any{"flink": map[string]any{"jobName": f.jobName}}
	}
	keys, bad := flags.Policy(f.policy)
	problems = append(problems, bad...)
	if len(keys) > 0 {
		doc["policy"] = keys
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return input{}, []string{err.Error()}
	}
	in, found := decodeInput(text)
	return in, append(problems, found...)
}
