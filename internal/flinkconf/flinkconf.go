package flinkconf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Entry is one key of a configuration.
type Entry struct {
	Key   string
	Value string
	// Line is where it stands, from 1.
	Line int
	// Problem says why it has no value, empty when it has.
	Problem string
}

// Parse reads a configuration. The entries come in the order of the file; a
// later one of the same key has a problem. The error is about the file as a
// whole.
func Parse(text []byte) ([]Entry, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) && json.Valid(text) {
		// YAML takes JSON, but for tabs between its parts.
		text = bytes.ReplaceAll(text, []byte("\t"), []byte(" "))
	}
	docs, err := documents(text)
	if err != nil {
		if entries, ok := lines(text); ok {
			return checked(entries), nil
		}
		return nil, err
	}
	root, err := pick(docs)
	if err != nil || root == nil {
		return nil, err
	}
	w := walker{}
	if w.mapping("", root, 0); w.err != nil {
		return nil, w.err
	}
	return checked(w.entries), nil
}

// checked finds the keys that are given twice.
func checked(entries []Entry) []Entry {
	first := map[string]int{}
	for i := range entries {
		e := &entries[i]
		line, twice := first[e.Key]
		switch {
		case twice:
			e.Problem = fmt.Sprintf("is given twice, on line %d already", line)
		default:
			first[e.Key] = e.Line
		}
	}
	return entries
}

// documents decodes every YAML document; empty ones are left out.
func documents(text []byte) ([]*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var out []*yaml.Node
	for {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
		}
		root := &doc
		if doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 {
			root = doc.Content[0]
		}
		switch {
		case root.Kind == yaml.MappingNode:
			out = append(out, root)
		case root.Tag == "!!null":
		default:
			return nil, fmt.Errorf("line %d: must be keys with values, such as job.autoscaler.metrics.window: 5 min", root.Line)
		}
	}
}

// pick finds the one mapping that is a configuration: that of a FlinkDeployment
// or FlinkSessionJob, else the file itself. Nil for an empty file.
func pick(docs []*yaml.Node) (*yaml.Node, error) {
	var inside []*yaml.Node
	for _, d := range docs {
		for _, path := range [][]string{{"spec", "flinkConfiguration"}, {"flinkConfiguration"}} {
			if n := at(d, path...); n != nil {
				inside = append(inside, n)
			}
		}
	}
	switch {
	case len(inside) > 1:
		return nil, fmt.Errorf("holds %d of flinkConfiguration, on lines %d and %d; give one", len(inside), inside[0].Line, inside[1].Line)
	case len(inside) == 1:
		return inside[0], nil
	case len(docs) > 1:
		return nil, fmt.Errorf("line %d: a second document begins; give one", docs[1].Line)
	case len(docs) == 1:
		return docs[0], nil
	}
	return nil, nil //nolint:nilnil // an empty file is a configuration without keys
}

// at goes down into mappings; nil where there is none.
func at(n *yaml.Node, path ...string) *yaml.Node {
	for _, name := range path {
		var next *yaml.Node
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == name {
				next = n.Content[i+1]
			}
		}
		if next == nil || next.Kind != yaml.MappingNode {
			return nil
		}
		n = next
	}
	return n
}

// walker flattens nested keys.
type walker struct {
	entries []Entry
	err     error
}

// maxDepth and maxEntries are more than any configuration of Flink has; aliases
// may lead round in circles, or stand for more than there is memory.
const (
	maxDepth   = 40
	maxEntries = 10000
)

func (w *walker) mapping(prefix string, n *yaml.Node, depth int) {
	switch {
	case depth > maxDepth:
		w.err = fmt.Errorf("line %d: is nested too deeply", n.Line)
	case len(w.entries) > maxEntries:
		w.err = fmt.Errorf("line %d: has more than %d keys", n.Line, maxEntries)
	}
	for i := 0; w.err == nil && i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], resolved(n.Content[i+1])
		name := prefix + key.Value
		if key.Tag == "!!merge" {
			name = strings.TrimSuffix(prefix, ".")
		}
		switch value.Kind {
		case yaml.MappingNode:
			below := name + "."
			if key.Tag == "!!merge" {
				below = prefix
			}
			w.mapping(below, value, depth+1)
		case yaml.SequenceNode:
			w.list(name, key.Line, value)
		default:
			e := Entry{Key: name, Value: value.Value, Line: key.Line}
			if value.Tag == "!!null" {
				e.Value, e.Problem = "", "has no value"
			}
			w.entries = append(w.entries, e)
		}
	}
}

// list writes a YAML list as Flink's flat configuration has it.
func (w *walker) list(name string, line int, n *yaml.Node) {
	e := Entry{Key: name, Line: line}
	parts := make([]string, 0, len(n.Content))
	for _, c := range n.Content {
		c = resolved(c)
		if c.Kind != yaml.ScalarNode || c.Tag == "!!null" {
			e.Problem = "must be one value or a list of them"
		}
		parts = append(parts, quoted(c.Value))
	}
	if e.Problem == "" {
		e.Value = strings.Join(parts, ";")
	}
	w.entries = append(w.entries, e)
}

// quoted protects what would end an entry of a list.
func quoted(s string) string {
	if strings.Contains(s, ";") && !strings.Contains(s, "'") {
		return "'" + s + "'"
	}
	return s
}

func resolved(n *yaml.Node) *yaml.Node {
	for range maxDepth {
		if n.Kind != yaml.AliasNode || n.Alias == nil {
			return n
		}
		n = n.Alias
	}
	return n
}

// lines reads an old flink-conf.yaml as Flink 1 does, which is no YAML: one key
// a line, everything behind ": " is the value, whatever it holds. ok is false
// when a line does not fit.
func lines(text []byte) (entries []Entry, ok bool) {
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimRight(line, " \t\r\n")
		if line == "" {
			continue
		}
		// An indented line belongs to YAML that has a mistake elsewhere.
		key, value, found := strings.Cut(line, ": ")
		if key = strings.TrimRight(key, " "); !found || key == "" || strings.ContainsAny(key, " \t{}[]\"'") {
			return nil, false
		}
		entries = append(entries, Entry{Key: key, Value: strings.TrimSpace(value), Line: n})
	}
	return entries, true
}
