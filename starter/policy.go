package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/internal/flags"
	"flinkscaler/internal/flinkconf"
	"flinkscaler/starter/view"
)

func newPolicy(a *app) *cobra.Command {
	var changed bool
	cmd := a.jobCommand(&cobra.Command{
		Use: "policy JOB", GroupID: groupLook, Short: "Show each policy key of a job with its origin; check a file; list all keys",
		Long: `Show each policy key that is in force, with its value and who said it: set-policy,
the workflow's input, the job's own configuration, the cluster's default in the
worker, or what is built in.

policy check looks at a file instead of a job, and policy keys lists what there is.`,
		Example: `  flinkscaler policy dev/orders --changed
  flinkscaler policy check flink-conf.yaml
  flinkscaler policy keys utilization`,
	}, func(s *session, ctx context.Context, key core.JobKey) error { return s.showPolicy(ctx, key, changed) })
	cmd.Flags().BoolVar(&changed, "changed", false, "only what is not built in")
	cmd.AddCommand(newPolicyCheck(a), newPolicyKeys(a))
	return cmd
}

func newPolicyCheck(a *app) *cobra.Command {
	var how checking
	cmd := &cobra.Command{
		Use: "check FILE", Short: "Check the policy keys of a file; connect to nothing",
		Long: `Check every key of the autoscaler in a file, and show what they come to; - stands
for standard input. The file is a Flink configuration, whole or in part: YAML flat or
nested, the lines of an old flink-conf.yaml, JSON. Or it holds some: FlinkDeployments
and FlinkSessionJobs with their flinkConfiguration, one or a list or several YAML
documents; a ConfigMap or the values of a Helm chart with a flink-conf.yaml or
config.yaml inside. Each is checked by itself and named with its problems. Keys that
are not the autoscaler's are counted and left alone.

Every problem is listed at once, and ends the command with 1; so does a file without
any key of the autoscaler, which is mostly the wrong file, but for --allow-empty. A
file that cannot be read ends it with 2.`,
		Example: `  flinkscaler policy check config.yaml
  flinkscaler policy check deployment.yaml --all
  kubectl get flinkdeployment -A -o yaml | flinkscaler policy check - -o json`,
		Args: oneFile,
		RunE: func(_ *cobra.Command, args []string) error { return a.checkPolicy(args[0], how) },
	}
	cmd.Flags().BoolVar(&how.all, "all", false, "also the keys that are as built in")
	cmd.Flags().BoolVar(&how.allowEmpty, "allow-empty", false, "a file without any key of the autoscaler is right, too")
	return cmd
}

func oneFile(_ *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return usage(fmt.Sprintf("policy check takes one file, got %d arguments", len(args)), "Usage: flinkscaler policy check FILE")
}

func newPolicyKeys(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "keys [PATTERN]", Short: "List the policy keys with default and meaning; connect to nothing",
		Long: `List every policy key with its type, default, range and meaning: all of them, or
those that have PATTERN in their name or in an older one, whatever its case.`,
		Example: `  flinkscaler policy keys
  flinkscaler policy keys scale-down
  flinkscaler policy keys -o json | jq -r '.[].key'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) <= 1 {
				return nil
			}
			return usage(fmt.Sprintf("policy keys takes at most one pattern, got %d arguments", len(args)), "Usage: flinkscaler policy keys [PATTERN]")
		},
		RunE: func(_ *cobra.Command, args []string) error {
			pattern := ""
			if len(args) == 1 {
				pattern = args[0]
			}
			return a.listKeys(pattern)
		},
	}
}

// checking is how a file is checked.
type checking struct{ all, allowEmpty bool }

// checkedPolicy is what a file comes to, as programs get it.
type checkedPolicy struct {
	File string       `json:"file"`
	Keys []checkedKey `json:"keys"`
	// Ignored counts the keys that are not the autoscaler's.
	Ignored  int             `json:"ignored"`
	Problems []policyProblem `json:"problems,omitempty"`
	Notes    []string        `json:"notes,omitempty"`
	// own counts the keys of the autoscaler.
	own int
}

// checkedKey is a key of one of the configurations of a file.
type checkedKey struct {
	// In names the configuration, empty where the file is one as a whole.
	In string `json:"in,omitempty"`
	policy.Origin
}

// policyProblem is one key that cannot be used as it stands.
type policyProblem struct {
	In      string `json:"in,omitempty"`
	Key     string `json:"key"`
	Value   string `json:"value"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
	// Allowed is the key's type and range, empty for an unknown key.
	Allowed string `json:"allowed,omitempty"`
	Default string `json:"default,omitempty"`
}

// text is "FlinkDeployment dev/orders: line 3: key: what is wrong; allowed is ...".
func (p policyProblem) text() string {
	s := p.Key + ": " + p.Message
	if p.Line > 0 {
		s = fmt.Sprintf("line %d: %s", p.Line, s)
	}
	if p.In != "" {
		s = p.In + ": " + s
	}
	if p.Allowed != "" {
		s += "; allowed: " + p.Allowed
	}
	if p.Default != "" {
		s += "; built in: " + p.Default
	}
	return view.Clean(s)
}

// maxConf is far above any configuration.
const maxConf = 16 << 20

// fileLayer is the name under which the keys of the file are shown.
const fileLayer = "file"

// checkPolicy reads a file and says what its keys come to.
func (a *app) checkPolicy(file string, how checking) error {
	r, name, err := a.open(file)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // was only read
	text, err := io.ReadAll(io.LimitReader(r, maxConf+1))
	if err == nil && len(text) > maxConf {
		err = fmt.Errorf("it is larger than %d MiB", maxConf>>20)
	}
	if err != nil {
		return usage(fmt.Sprintf("%s cannot be read: %v", name, err), "")
	}
	parts, err := flinkconf.Parse(text, takesPairs)
	if err != nil {
		return usage(fmt.Sprintf("%s cannot be read: %v", name, err), "Give YAML, JSON, or lines of key: value.")
	}
	c := checkedPolicy{File: name, Keys: []checkedKey{}}
	for _, p := range parts {
		c.judge(p)
	}
	empty := c.own == 0
	if empty {
		c.Notes = append(c.Notes, fmt.Sprintf("no key of the autoscaler is in it: they begin with %s", policy.Prefix))
	}
	if !how.all {
		c.Keys = slices.DeleteFunc(c.Keys, func(k checkedKey) bool { return k.From == policy.BuiltIn })
	}
	return a.showChecked(c, empty && !how.allowEmpty)
}

// takesPairs is true for the keys whose value is a map.
func takesPairs(key string) bool {
	return slices.ContainsFunc(policy.Keys(), func(k policy.KeyInfo) bool {
		return k.Type == "map" && (k.Key == key || slices.Contains(k.Aliases, key))
	})
}

// judge resolves the keys of one configuration as if nothing else were said.
func (c *checkedPolicy) judge(part flinkconf.Part) {
	values, lines := map[string]string{}, map[string]int{}
	var found []policyProblem
	c.own += len(part.Entries)
	for _, e := range part.Entries {
		switch {
		case len(policy.Own(map[string]string{e.Key: ""})) == 0:
			c.Ignored++
			c.own--
			if strings.Contains(strings.ToLower(e.Key), "autoscal") {
				c.Notes = append(c.Notes, strings.TrimPrefix(fmt.Sprintf("%s: line %d: %s is not looked at: keys of the autoscaler begin with %s", part.Name, e.Line, e.Key, policy.Prefix), ": "))
			}
		case e.Problem != "":
			found = append(found, problem(e.Key, e.Value, e.Line, e.Problem))
		default:
			values[e.Key], lines[e.Key] = e.Value, e.Line
		}
	}
	_, origins, problems := policy.Resolve([]policy.Layer{{Name: fileLayer, Values: values}})
	for _, p := range problems {
		key := pathKey(p.Path)
		found = append(found, problem(key, values[key], lines[key], strings.TrimSuffix(p.Message, " (from "+fileLayer+")")))
	}
	slices.SortStableFunc(found, func(a, b policyProblem) int { return cmp.Compare(a.Line, b.Line) })
	for _, p := range found {
		p.In = part.Name
		c.Problems = append(c.Problems, p)
	}
	for _, o := range origins {
		c.Keys = append(c.Keys, checkedKey{In: part.Name, Origin: o})
	}
}

// pathKey is the key in the path of a problem: policy["key"].
func pathKey(path string) string {
	inner := strings.TrimSuffix(strings.TrimPrefix(path, "policy["), "]")
	if key, err := strconv.Unquote(inner); err == nil {
		return key
	}
	return path
}

func problem(key, value string, line int, message string) policyProblem {
	p := policyProblem{Key: key, Value: value, Line: line, Message: message}
	for _, k := range policy.Keys() {
		if k.Key == key || slices.Contains(k.Aliases, key) {
			p.Allowed, p.Default = allowed(k), k.Default
		}
	}
	return p
}

// allowed is a key's type with its range.
func allowed(k policy.KeyInfo) string {
	if k.Range == "" {
		return k.Type
	}
	return k.Type + ", " + k.Range
}

// showChecked tells what a file comes to; empty makes it a failure that there is
// nothing.
func (a *app) showChecked(c checkedPolicy, empty bool) error {
	var bad error
	switch n := len(c.Problems); {
	case n > 0:
		f := failed(fmt.Sprintf("%s has %s", c.File, plural(n, "problem")), "")
		for _, p := range c.Problems {
			f.details = append(f.details, p.text())
		}
		bad = f
	case empty:
		bad = failed(fmt.Sprintf("%s has no key of the autoscaler: they begin with %s", c.File, policy.Prefix),
			"If that is right, give --allow-empty.")
	}
	if a.json() {
		if err := a.print(c); err != nil {
			return err
		}
		return bad
	}
	for _, n := range c.Notes {
		if !empty || bad == nil || !strings.HasPrefix(n, "no key") {
			fmt.Fprintln(a.err, "note: "+view.Clean(n))
		}
	}
	if bad != nil {
		return bad
	}
	if err := a.showParts(c.Keys); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.out, "%s: no problem; %s ignored\n", c.File, plural(c.Ignored, "other key"))
	return err
}

// showParts shows the keys of each configuration below its name.
func (a *app) showParts(keys []checkedKey) error {
	var part []policy.Origin
	for i, k := range keys {
		part = append(part, k.Origin)
		if i+1 < len(keys) && keys[i+1].In == k.In {
			continue
		}
		if k.In != "" {
			if _, err := fmt.Fprintln(a.out, view.Clean(k.In)+":"); err != nil {
				return err
			}
		}
		if err := a.policyTable(part); err != nil {
			return err
		}
		part = nil
	}
	if len(keys) == 0 {
		return a.policyTable(nil)
	}
	return nil
}

// policyTable shows keys with value and origin.
func (a *app) policyTable(keys []policy.Origin) error {
	t := view.Table{Width: a.width(), Columns: []view.Column{{Title: "KEY"}, {Title: "VALUE"}, {Title: "FROM"}, {Title: "NOTE"}}}
	for _, o := range keys {
		from := o.From
		if o.As != "" {
			from += ", as " + o.As
		}
		t.Row(o.Key, o.Value, from, o.Note)
	}
	if t.Len() == 0 {
		_, err := fmt.Fprintln(a.out, "every key is as built in")
		return err
	}
	_, err := t.WriteTo(a.out)
	return err
}

// listedKey is one key, as programs get it.
type listedKey struct {
	Key     string   `json:"key"`
	Group   string   `json:"group,omitempty"`
	Type    string   `json:"type"`
	Default string   `json:"default"`
	Range   string   `json:"range,omitempty"`
	Meaning string   `json:"meaning"`
	Aliases []string `json:"aliases,omitempty"`
	// Java is true when the Java autoscaler knows the key.
	Java bool `json:"java"`
	// Differs says what is deliberately not as there.
	Differs string `json:"differs,omitempty"`
	// Ignored says why the key has no effect.
	Ignored string `json:"ignored,omitempty"`
}

// listKeys lists the keys that have the pattern in one of their names.
func (a *app) listKeys(pattern string) error {
	has := func(name string) bool { return strings.Contains(strings.ToLower(name), strings.ToLower(pattern)) }
	var found []listedKey
	var names []string
	for _, k := range policy.Keys() {
		names = append(names, k.Key)
		if has(k.Key) || slices.ContainsFunc(k.Aliases, has) {
			found = append(found, listedKey{
				Key: k.Key, Group: k.Group, Type: k.Type, Default: k.Default, Range: k.Range, Meaning: k.Meaning,
				Aliases: k.Aliases, Java: k.Java, Differs: k.Differs, Ignored: k.Ignored,
			})
		}
	}
	if len(found) == 0 {
		return failed(fmt.Sprintf("no policy key has %q in its name", pattern),
			"Did you mean "+strings.Join(closest(flags.FullKey(pattern), names, 3), ", ")+"? All of them: flinkscaler policy keys")
	}
	if a.json() {
		return a.print(found)
	}
	for _, k := range found {
		if err := a.tellKey(k); err != nil {
			return err
		}
	}
	return nil
}

// textWidth is that of a paragraph where there is no terminal.
const textWidth = 100

// tellKey writes one key: what it is on the first line, its meaning below.
func (a *app) tellKey(k listedKey) error {
	width := textWidth
	if w := a.width(); w > 0 {
		width = min(width, w)
	}
	what := k.Type
	if k.Range != "" {
		what += ", " + k.Range
	}
	if k.Default != "" {
		what += "; built in: " + k.Default
	}
	meaning := k.Meaning
	if k.Differs != "" {
		meaning += "; differs: " + k.Differs
	}
	if k.Ignored != "" {
		meaning += "; " + k.Ignored
	}
	_, err := fmt.Fprintf(a.out, "%s (%s)\n  %s\n", k.Key, what, strings.Join(view.Wrap(meaning, width-2), "\n  "))
	return err
}
