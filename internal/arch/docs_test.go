package arch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/core/spec"
	"flinkscaler/internal/docgen/reference"
)

// TestReferencesAreInStep makes the generated pages anew. The page of the
// commands is made of a built program; tools/check.sh compares that one too.
func TestReferencesAreInStep(t *testing.T) {
	t.Parallel()
	pages, err := reference.Pages(repository)
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 5 {
		t.Errorf("only %d pages are made", len(pages))
	}
	for name, want := range pages {
		if diff := cmp.Diff(read(t, name), want); diff != "" {
			t.Errorf("%s is not in step with the code; run: make generate (-file +code)\n%s", name, diff)
		}
	}
	pages[reference.CommandsPage] = ""
	made, err := filepath.Glob(filepath.Join(repository, "docs", "reference", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range made {
		if _, ok := pages["docs/reference/"+filepath.Base(file)]; !ok {
			t.Errorf("docs/reference/%s is made by nobody", filepath.Base(file))
		}
	}
}

// document is a page for people.
type document struct{ path, text string }

// documents gives every page.
func documents(t *testing.T) []document {
	t.Helper()
	var out []document
	for _, name := range []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md"} {
		out = append(out, document{name, read(t, name)})
	}
	err := fs.WalkDir(os.DirFS(repository), "docs", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(name, ".md") {
			out = append(out, document{name, read(t, name)})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 15 {
		t.Fatalf("only %d documents were found", len(out))
	}
	return out
}

// claim is something that documents say and that the tree can prove wrong.
type claim struct {
	name string
	// wrong gives what does not hold.
	wrong func(d document) []string
	// breach is a made-up document that must be caught.
	breach document
	// least is how many things there must be to look at.
	least int
	// looked counts them.
	looked *int
}

func claims(t *testing.T) []claim {
	t.Helper()
	page := func(text string) document { return document{"docs/x.md", text} }
	var counts [6]int
	return []claim{
		{"make targets exist", targets(t, &counts[0]), page("Run `make demonstration`."), 10, &counts[0]},
		{"policy keys exist", keys(&counts[1]), page("set `job.autoscaler.metrics.windows`."), 30, &counts[1]},
		{"links point to files", links(&counts[2]), page("see [it](reference/nothing.md#here)."), 30, &counts[2]},
		{"commands and flags of flinkscaler exist", commands(t, &counts[3]), page("```sh\nflinkscaler pause dev/orders --during 2h\n```"), 15, &counts[3]},
		{"reasons exist", reasons(&counts[5]), page("| reason | first look |\n|---|---|\n| `unreachable`, `no-leaders` | the JobManager |\n"), 40, &counts[5]},
		{"inputs are good", inputs(&counts[4]), page("```sh\ntctl workflow start --wt ScaleFlinkJob --input '{\"cluster\": \"dev\", \"jobb\": \"orders\"}'\n```"), 2, &counts[4]},
	}
}

func TestDocumentsAreTrue(t *testing.T) {
	t.Parallel()
	all := documents(t)
	for _, c := range claims(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if len(c.wrong(c.breach)) == 0 {
				t.Errorf("%q is not caught", c.breach.text)
			}
			*c.looked = 0
			for _, d := range all {
				for _, w := range c.wrong(d) {
					t.Errorf("%s: %s", d.path, w)
				}
			}
			if *c.looked < c.least {
				t.Errorf("only %d places were looked at, want at least %d", *c.looked, c.least)
			}
		})
	}
}

var ( //nolint:gochecknoglobals // constants
	fence     = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```")
	span      = regexp.MustCompile("`([^`\n]+)`")
	target    = regexp.MustCompile(`(?:^|[\s&(])make ([a-z][a-z0-9-]*)`)
	keyForm   = regexp.MustCompile(`job\.autoscaler\.[a-z0-9-]+(?:\.[a-z0-9-]+)*`)
	linkForm  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	inputForm = regexp.MustCompile(`(?s)--input '(.*?)'`)
	flagForm  = regexp.MustCompile(`(?:^|\s)(--[a-z][a-z-]*|-[a-z])(?:[\s=]|$)`)
)

// codes gives what a document shows as code: blocks and spans, a line each.
func codes(text string) []string {
	var out []string
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		joined := strings.ReplaceAll(m[2], "\\\n", " ")
		out = append(out, strings.Split(joined, "\n")...)
	}
	for _, m := range span.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		out = append(out, m[1])
	}
	return out
}

func targets(t *testing.T, looked *int) func(document) []string {
	t.Helper()
	var known []string
	for _, m := range regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`).FindAllStringSubmatch(read(t, "Makefile"), -1) {
		known = append(known, m[1])
	}
	if len(known) < 10 {
		t.Fatalf("the Makefile has %d targets", len(known))
	}
	return func(d document) []string {
		var out []string
		for _, line := range codes(d.text) {
			for _, m := range target.FindAllStringSubmatch(line, -1) {
				*looked++
				if !slices.Contains(known, m[1]) {
					out = append(out, "make "+m[1]+": there is no such target")
				}
			}
		}
		return out
	}
}

func keys(looked *int) func(document) []string {
	known := map[string]bool{}
	var families []string
	for _, k := range policy.Keys() {
		if name, ok := strings.CutSuffix(k.Key, ".<name>..."); ok {
			families = append(families, name)
			continue
		}
		known[k.Key] = true
		for _, a := range k.Aliases {
			known[strings.TrimPrefix(a, "kubernetes.operator.")] = true
		}
	}
	return func(d document) []string {
		var out []string
		for _, k := range keyForm.FindAllString(d.text, -1) {
			*looked++
			if !known[k] && !slices.ContainsFunc(families, func(f string) bool { return k == f || strings.HasPrefix(k, f+".") }) {
				out = append(out, k+": there is no such policy key")
			}
		}
		return out
	}
}

func links(looked *int) func(document) []string {
	return func(d document) []string {
		var out []string
		for _, m := range linkForm.FindAllStringSubmatch(fence.ReplaceAllString(d.text, ""), -1) {
			to, _, _ := strings.Cut(m[1], "#")
			if to == "" || strings.Contains(to, "://") {
				continue
			}
			*looked++
			if _, err := os.Stat(filepath.Join(repository, filepath.FromSlash(path.Join(path.Dir(d.path), to)))); errors.Is(err, fs.ErrNotExist) {
				out = append(out, m[1]+": there is no such file")
			}
		}
		return out
	}
}

// commands checks the verbs and flags of the operators' command against the
// page that is made of its help.
func commands(t *testing.T, looked *int) func(document) []string {
	t.Helper()
	help := map[string]string{}
	for _, part := range strings.Split(read(t, reference.CommandsPage), "\n## flinkscaler ")[1:] {
		verb, text, _ := strings.Cut(part, "\n")
		help[verb] = text
	}
	if len(help) < 10 {
		t.Fatalf("%s shows %d commands", reference.CommandsPage, len(help))
	}
	return func(d document) []string {
		var out []string
		for _, line := range codes(d.text) {
			_, rest, ok := strings.Cut(" "+strings.ReplaceAll(line, "bin/flinkscaler ", "flinkscaler "), " flinkscaler ")
			if !ok || d.path == reference.CommandsPage {
				continue
			}
			rest, _, _ = strings.Cut(rest, "|")
			verb, args, _ := strings.Cut(rest, " ")
			if strings.HasPrefix(verb, "-") || strings.ContainsAny(verb, ":{(") || verb == "" || strings.HasPrefix(line, "#") {
				continue
			}
			*looked++
			if help[verb] == "" {
				out = append(out, fmt.Sprintf("flinkscaler %s: there is no such command", verb))
				continue
			}
			for _, m := range flagForm.FindAllStringSubmatch(args, -1) {
				if !strings.Contains(help[verb], m[1]+" ") && !strings.Contains(help[verb], m[1]+",") {
					out = append(out, fmt.Sprintf("flinkscaler %s %s: there is no such flag", verb, m[1]))
				}
			}
		}
		return out
	}
}

// reasons checks the first column of every table of reasons.
func reasons(looked *int) func(document) []string {
	known := map[string]bool{}
	for _, r := range core.Reasons() {
		known[string(r.Reason)] = true
	}
	return func(d document) []string {
		var out []string
		inside := false
		for line := range strings.Lines(d.text) {
			inside = strings.HasPrefix(line, "| reason |") || (inside && strings.HasPrefix(line, "|"))
			if !inside {
				continue
			}
			first := strings.Split(line, "|")[1]
			for _, m := range span.FindAllStringSubmatch(first, -1) {
				*looked++
				if !known[m[1]] {
					out = append(out, m[1]+": there is no such reason")
				}
			}
		}
		return out
	}
}

// inputs decodes the input of every command that starts a ScaleFlinkJob.
func inputs(looked *int) func(document) []string {
	return func(d document) []string {
		var out []string
		for _, m := range fence.FindAllStringSubmatch(d.text, -1) {
			for _, command := range strings.Split(strings.ReplaceAll(m[2], "\\\n", " "), "\n\n") {
				in := inputForm.FindStringSubmatch(command)
				if in == nil || !strings.Contains(command, "workflow start") {
					continue
				}
				*looked++
				if _, problems := spec.Decode([]byte(in[1])); len(problems) > 0 {
					out = append(out, fmt.Sprintf("input %s: %v", in[1], problems))
				}
			}
		}
		return out
	}
}

// TestExampleInputs decodes the shipped inputs as the worker does.
func TestExampleInputs(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(repository, "examples", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no example was found: %v", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, problems := spec.Decode(b); len(problems) > 0 {
			t.Errorf("%s: %v", filepath.Base(file), problems)
		}
	}
	if _, problems := spec.Decode([]byte(`{"cluster": "dev", "job": "orders", "policy": {"job.autoscaler.interval": "soon"}}`)); len(problems) == 0 {
		t.Error("a bad input is not caught")
	}
}
