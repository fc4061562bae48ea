package yarn

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// configured are the options in a folder of Flink's configuration, by their flat names.
func configured(dir string, has release) (map[string]string, error) {
	if has.major < 2 { // the old form wins where both are there
		text, err := os.ReadFile(filepath.Join(dir, "flink-conf.yaml"))
		if err == nil {
			return lines(string(text)), nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "config.yaml"))
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		return nil, fmt.Errorf("%s is not YAML", filepath.Join(dir, "config.yaml")) // the error shows values
	}
	out := map[string]string{}
	flatten("", tree, out)
	return out, nil
}

// lines reads the old form: a key, a colon and a space, a value, and no quotes.
func lines(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if key, value, ok := strings.Cut(line, ": "); ok {
			out[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return out
}

// flatten joins the keys of nested options with dots.
func flatten(at string, tree map[string]any, out map[string]string) {
	for key, value := range tree {
		if inner, ok := value.(map[string]any); ok {
			flatten(at+key+".", inner, out)
		} else if value != nil {
			out[at+key] = fmt.Sprint(value)
		}
	}
}
