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

// Part is one configuration of a file.
type Part struct {
	// Name says whose it is, such as "FlinkDeployment dev/orders"; empty where
	// the file as a whole is the configuration.
	Name string
	// Entries come in the order of the file; a later one of the same key has a
	// problem.
	Entries []Entry
}

// Parse reads every configuration of a file, in its order; isMap is true for
// keys whose value is pairs. The error is about the file as a whole.
func Parse(text []byte, isMap func(key string) bool) ([]Part, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) && json.Valid(text) {
		// YAML takes JSON, but for tabs between its parts.
		text = bytes.ReplaceAll(text, []byte("\t"), []byte(" "))
	}
	docs, err := documents(text)
	if err != nil {
		if entries, ok := lines(text); ok {
			return []Part{{Entries: checked(entries)}}, nil
		}
		return nil, err
	}
	f := finder{walker: walker{isMap: isMap}}
	for i, d := range docs {
		before := len(f.parts)
		f.search(d, "")
		if len(f.parts) > before || f.text(d, "kind") != "" {
			continue
		}
		name := ""
		if len(docs) > 1 {
			name = fmt.Sprintf("document %d", i+1)
		}
		f.add(name, d)
	}
	if f.err != nil {
		return nil, f.err
	}
	return f.parts, nil
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

// finder finds the configurations inside of documents.
type finder struct {
	walker

	parts []Part
}

// search goes through a document for what holds a configuration: the
// flinkConfiguration of a custom resource, and the files that a ConfigMap or the
// values of a Helm chart hold as text. It follows no alias, which may lead round
// in circles.
func (f *finder) search(n *yaml.Node, owner string) {
	if n.Kind == yaml.MappingNode {
		owner = f.owner(n, owner)
	}
	for i, c := range n.Content {
		if n.Kind != yaml.MappingNode {
			f.search(c, owner)
			continue
		}
		if i%2 == 0 {
			continue
		}
		switch key, value := n.Content[i-1].Value, resolved(c); {
		case key == "flinkConfiguration" && value.Kind == yaml.MappingNode:
			f.add(owner, value)
		case key == "flinkConfiguration" && value.Kind == yaml.SequenceNode:
			f.fail(fmt.Errorf("line %d: flinkConfiguration must be keys with values", n.Content[i-1].Line))
		case (key == "flinkConfiguration" || key == "flink-conf.yaml" || key == "config.yaml") && value.Kind == yaml.ScalarNode:
			f.file(strings.TrimPrefix(owner+", "+key, ", "), value)
		default:
			f.search(c, owner)
		}
	}
}

// owner names a Kubernetes object; what is no object is a part of the one
// around it.
func (f *finder) owner(n *yaml.Node, around string) string {
	kind := f.text(n, "kind")
	if kind == "" {
		return around
	}
	name := f.text(n, "metadata", "name")
	if space := f.text(n, "metadata", "namespace"); space != "" {
		name = space + "/" + name
	}
	return strings.TrimSpace(kind + " " + name)
}

// text is the scalar at a path; empty when there is none.
func (f *finder) text(n *yaml.Node, path ...string) string {
	for _, name := range path {
		var next *yaml.Node
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == name {
				next = resolved(n.Content[i+1])
			}
		}
		if next == nil {
			return ""
		}
		n = next
	}
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return ""
	}
	return n.Value
}

// add reads a mapping as a configuration.
func (f *finder) add(name string, n *yaml.Node) {
	f.entries = nil
	f.mapping("", n, 0)
	f.read += len(f.entries)
	f.parts = append(f.parts, Part{Name: name, Entries: checked(f.entries)})
}

// file reads a configuration that stands as a text in another file.
func (f *finder) file(name string, n *yaml.Node) {
	if n.Tag == "!!null" {
		return
	}
	line := func(inside int) int {
		if n.Style&yaml.LiteralStyle == 0 {
			return n.Line
		}
		return n.Line + inside
	}
	docs, err := documents([]byte(n.Value))
	entries, ok := []Entry(nil), true
	if err != nil {
		if entries, ok = lines([]byte(n.Value)); !ok {
			// Other programs have a config.yaml too.
			if strings.Contains(n.Value, "autoscaler") {
				f.fail(fmt.Errorf("%s, which begins on line %d: %w", name, n.Line, err))
			}
			return
		}
	}
	f.entries = entries
	for _, d := range docs {
		f.mapping("", d, 0)
	}
	for i := range f.entries {
		f.entries[i].Line = line(f.entries[i].Line)
	}
	f.read += len(f.entries)
	f.parts = append(f.parts, Part{Name: name, Entries: checked(f.entries)})
}

// fail keeps the first error.
func (f *finder) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// walker flattens nested keys.
type walker struct {
	isMap   func(key string) bool
	entries []Entry
	// read counts the entries of the configurations before.
	read int
	err  error
}

// maxDepth is more than any configuration of Flink has, maxEntries more than all
// those of a large cluster; aliases may lead round in circles, or stand for more
// than there is memory.
const (
	maxDepth   = 40
	maxEntries = 100000
)

func (w *walker) mapping(prefix string, n *yaml.Node, depth int) {
	switch {
	case depth > maxDepth:
		w.err = fmt.Errorf("line %d: is nested too deeply", n.Line)
	case w.read+len(w.entries) > maxEntries:
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
			if w.isMap != nil && w.isMap(name) {
				w.pairs(name, key.Line, value)
				continue
			}
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

// pairs writes a YAML mapping as the text that a key of pairs takes, {a: 1, b: 2}:
// without quotes around it YAML reads that as a mapping.
func (w *walker) pairs(name string, line int, n *yaml.Node) {
	e := Entry{Key: name, Line: line}
	var out []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		value := resolved(n.Content[i+1])
		if value.Kind != yaml.ScalarNode || value.Tag == "!!null" {
			e.Problem = "must be pairs of a name and one value"
		}
		out = append(out, half(n.Content[i].Value)+": "+half(value.Value))
	}
	if e.Problem == "" {
		e.Value = "{" + strings.Join(out, ", ") + "}"
	}
	w.entries = append(w.entries, e)
}

// half protects what would end a half of a pair.
func half(s string) string {
	if strings.ContainsAny(s, ",:'\"{}") || strings.TrimSpace(s) != s || s == "" {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return s
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
