package hdfs

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// properties are those of Hadoop's configuration, as they are written.
type properties map[string]string

// The files of a configuration, the later over the earlier.
const (
	coreSite = "core-site.xml"
	hdfsSite = "hdfs-site.xml"
)

// readProperties reads the files of a directory. One of them may be missing.
func readProperties(dir string) (properties, error) {
	all, final := properties{}, map[string]bool{}
	found := 0
	for _, name := range []string{coreSite, hdfsSite} {
		f, err := os.Open(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		err = all.read(f, final)
		_ = f.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
		}
		found++
	}
	if found == 0 {
		return nil, fmt.Errorf("%s holds neither %s nor %s", dir, coreSite, hdfsSite)
	}
	return all, nil
}

// property is one element of such a file.
type property struct {
	Name  string `xml:"name"`
	Value string `xml:"value"`
	Final string `xml:"final"`
}

// read adds the properties of one file. What an earlier file calls final stays.
// Files that it would include are not followed: that they are missing is said.
func (p properties) read(r io.Reader, final map[string]bool) error {
	mine := map[string]bool{}
	d := xml.NewDecoder(r)
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			maps.Copy(final, mine)
			return nil
		}
		if err != nil {
			return err
		}
		start, ok := token.(xml.StartElement)
		switch {
		case !ok:
		case start.Name.Local == "include":
			return fmt.Errorf("it includes another file (%s), which is not followed; put its properties here", attribute(start, "href"))
		case start.Name.Local == "property":
			var one property
			if err := d.DecodeElement(&one, &start); err != nil {
				return err
			}
			name := strings.TrimSpace(one.Name)
			if final[name] {
				continue
			}
			p[name] = strings.TrimSpace(one.Value)
			if strings.TrimSpace(one.Final) == "true" {
				mine[name] = true
			}
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// variable is a reference to another property, or to the environment.
var variable = regexp.MustCompile(`\$\{[^}$\s]+\}`) //nolint:gochecknoglobals // a constant

// deepest is how many references in a row Hadoop follows.
const deepest = 20

// get gives a value with its references followed; what refers to nothing stays as
// it is written, as with Hadoop.
func (p properties) get(name string) string {
	value := p[name]
	for range deepest {
		next := variable.ReplaceAllStringFunc(value, func(ref string) string {
			if v, ok := p.refer(ref[2 : len(ref)-1]); ok {
				return v
			}
			return ref
		})
		if next == value {
			break
		}
		value = next
	}
	return strings.TrimSpace(value)
}

// refer gives what a reference stands for: env.NAME, env.NAME:-otherwise,
// env.NAME-otherwise, user.name, or a property.
func (p properties) refer(name string) (string, bool) {
	env, ok := strings.CutPrefix(name, "env.")
	if !ok {
		if v, given := p[name]; given {
			return v, true
		}
		if name == "user.name" {
			who, err := processUser()
			return who, err == nil
		}
		return "", false
	}
	if name, otherwise, ok := strings.Cut(env, "-"); ok {
		empty := strings.HasSuffix(name, ":")
		v, set := os.LookupEnv(strings.TrimSuffix(name, ":"))
		if !set || empty && v == "" {
			return otherwise, true
		}
		return v, true
	}
	return os.LookupEnv(env)
}

// list splits a value at commas.
func (p properties) list(name string) []string {
	var out []string
	for _, v := range strings.Split(p.get(name), ",") {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	return out
}
