package config

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"flinkscaler/core"
)

// strictYAML is a parser for koanf that takes one document with one mapping.
type strictYAML struct{}

// Unmarshal decodes the file. Its errors repeat no value.
func (strictYAML) Unmarshal(b []byte) (map[string]any, error) {
	dec := yaml.NewDecoder(bytes.NewReader(b))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return map[string]any{}, nil
		}
		return nil, err
	}
	if doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 && doc.Content[0].Kind != yaml.MappingNode {
		if doc.Content[0].Tag == "!!null" {
			return map[string]any{}, nil
		}
		return nil, errors.New("must be keys with values, such as taskQueue: flinkscaler")
	}
	out := map[string]any{}
	if err := doc.Decode(&out); err != nil {
		return nil, err
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("must hold one document; there is a second one behind a line with ---")
	}
	return out, nil
}

// Marshal is not needed: the worker writes no configuration.
func (strictYAML) Marshal(map[string]any) ([]byte, error) { return nil, errors.ErrUnsupported }

// quoted is what the YAML library cites from the file.
var quoted = regexp.MustCompile("`[^`]*`") //nolint:gochecknoglobals // a constant

// fileProblems says why the file could not be read.
func fileProblems(err error) []core.Problem {
	var (
		file  *fs.PathError
		types *yaml.TypeError
	)
	switch {
	case errors.As(err, &file):
		return []core.Problem{{Path: "file", Message: "cannot be read: " + file.Err.Error()}}
	case errors.As(err, &types):
		out := make([]core.Problem, 0, len(types.Errors))
		for _, e := range types.Errors {
			out = append(out, core.Problem{Path: "file", Message: quoted.ReplaceAllString(e, "(hidden)")})
		}
		return out
	}
	return []core.Problem{{Path: "file", Message: quoted.ReplaceAllString(strings.TrimPrefix(err.Error(), "yaml: "), "(hidden)")}}
}
