package arch

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// source is one Go file with what it imports.
type source struct {
	// path is relative to the module's root, with slashes.
	path    string
	imports []string
	doc     bool
	test    bool
	pkg     string
}

func (s source) dir() string {
	if i := strings.LastIndexByte(s.path, '/'); i >= 0 {
		return s.path[:i]
	}
	return "."
}

// rule forbids imports in a part of the tree, with the reason.
type rule struct {
	name string
	// applies says which files it is about.
	applies func(s source) bool
	// allows says whether a file may import a package.
	allows func(s source, path string) bool
	why    string
	// breach is a made-up file that must be caught.
	breach source
}

const module = "flinkscaler"

func inside(dir, root string) bool { return dir == root || strings.HasPrefix(dir, root+"/") }

func ours(path string) bool { return path == module || strings.HasPrefix(path, module+"/") }

func standard(path string) bool {
	return !strings.Contains(strings.SplitN(path, "/", 2)[0], ".") && !ours(path)
}

// stages are the parts of a decision; each may use those to its left.
func stages() []string {
	return []string{"core", "core/policy", "core/collect", "core/evaluate", "core/stabilize", "core/scale", "core/strategy/flink", "core/strategy", "core/whatif"}
}

func rules() []rule {
	code := func(root string) func(source) bool {
		return func(s source) bool { return !s.test && inside(s.dir(), root) }
	}
	impure := []string{"context", "io", "io/fs", "io/ioutil", "log", "log/slog", "net", "net/http", "os", "os/exec", "sync", "sync/atomic", "math/rand", "math/rand/v2", "crypto/rand"}
	return []rule{
		{
			name: "core is pure", applies: code("core"), why: "formulas must be testable and replayable without a world",
			allows: func(_ source, p string) bool {
				return inside(p, module+"/core") || (standard(p) && !slices.Contains(impure, p))
			},
			breach: source{path: "core/x.go", imports: []string{"os"}},
		},
		{
			name: "core knows no library", applies: code("core"), why: "core stays on the standard library",
			allows: func(_ source, p string) bool { return standard(p) || ours(p) },
			breach: source{path: "core/scale/x.go", imports: []string{"go.temporal.io/sdk/workflow"}},
		},
		{
			name: "stages go one way", applies: code("core"), why: "collect, evaluate, stabilize, scale build on each other, never back",
			allows: func(s source, p string) bool {
				from, to := slices.Index(stages(), s.dir()), slices.Index(stages(), strings.TrimPrefix(p, module+"/"))
				return from < 0 || to < 0 || to < from
			},
			breach: source{path: "core/collect/x.go", imports: []string{module + "/core/evaluate"}},
		},
		{
			name: "events know decisions, not how they are made", applies: code("core/event"), why: "what is told follows from a decision alone",
			allows: func(_ source, p string) bool {
				return !ours(p) || p == module+"/core" || p == module+"/core/policy" || p == module+"/core/scale"
			},
			breach: source{path: "core/event/x.go", imports: []string{module + "/core/strategy"}},
		},
		{
			name: "decisions do not know what is told of them", applies: func(s source) bool { return code("core")(s) && !inside(s.dir(), "core/event") }, why: "events may change, decisions must not by that",
			allows: func(_ source, p string) bool { return p != module+"/core/event" },
			breach: source{path: "core/strategy/x.go", imports: []string{module + "/core/event"}},
		},
		{
			name: "sharing slots knows no decisions", applies: code("core/share"), why: "who may grow depends on what is asked for, not on how that came about",
			allows: func(_ source, p string) bool { return !ours(p) },
			breach: source{path: "core/share/x.go", imports: []string{module + "/core/policy"}},
		},
		{
			name: "decisions know no sharing", applies: func(s source) bool { return code("core")(s) && !inside(s.dir(), "core/share") }, why: "a job decides what it needs; what there is for it is another question",
			allows: func(_ source, p string) bool { return p != module+"/core/share" },
			breach: source{path: "core/strategy/x.go", imports: []string{module + "/core/share"}},
		},
		{
			name: "workflows have no formulas and do no I/O", applies: code("workflows"), why: "what may change its mind runs in a recorded activity",
			allows: func(_ source, p string) bool {
				switch p {
				case module + "/core", module + "/core/redeploy", module + "/core/policy", module + "/core/spec", module + "/core/share", module + "/core/collect", module + "/activities",
					"go.temporal.io/sdk/workflow", "go.temporal.io/sdk/temporal", "go.temporal.io/sdk/converter", "go.temporal.io/api/enums/v1":
					return true
				}
				return standard(p) && !slices.Contains(impure, p)
			},
			breach: source{path: "workflows/x.go", imports: []string{module + "/core/evaluate"}},
		},
		{
			name: "workflows use collect for its bounds only", applies: func(s source) bool { return code("workflows")(s) && s.path != "workflows/state.go" }, why: "samples are judged in Decide",
			allows: func(_ source, p string) bool { return p != module+"/core/collect" },
			breach: source{path: "workflows/scale.go", imports: []string{module + "/core/collect"}},
		},
		{
			name: "activities know ports, not adapters", applies: code("activities"), why: "an adapter is wired in the worker",
			allows: func(_ source, p string) bool {
				return !inside(p, module+"/adapters") && !inside(p, module+"/workflows") && !inside(p, module+"/worker") && !inside(p, module+"/internal")
			},
			breach: source{path: "activities/x.go", imports: []string{module + "/adapters/flink"}},
		},
		{
			name: "Temporal's client in one file", applies: func(s source) bool { return code("activities")(s) && s.path != "activities/temporal.go" }, why: "everything else is testable without a server",
			allows: func(_ source, p string) bool { return p != "go.temporal.io/sdk/client" },
			breach: source{path: "activities/observe.go", imports: []string{"go.temporal.io/sdk/client"}},
		},
		{
			name: "adapters know no Temporal", applies: code("adapters"), why: "they translate a platform into core's words, nothing else; the keys of log lines are everybody's, and so is how a child ends with its parent",
			allows: func(_ source, p string) bool {
				return !strings.HasPrefix(p, "go.temporal.io/") && (!ours(p) || inside(p, module+"/core") || inside(p, module+"/adapters") || p == module+"/internal/logging" || p == module+"/internal/spawn")
			},
			breach: source{path: "adapters/flink/x.go", imports: []string{module + "/activities"}},
		},
		{
			name: "platforms do not know each other", applies: code("adapters"), why: "they share adapters/flink, and the login by Kerberos",
			allows: func(s source, p string) bool {
				return !inside(p, module+"/adapters") || inside(p, module+"/adapters/flink") || p == module+"/adapters/kerberos" || inside(p, module+"/"+s.dir())
			},
			breach: source{path: "adapters/yarn/x.go", imports: []string{module + "/adapters/k8s"}},
		},
		{
			name: "the starter stays small", applies: code("starter"), why: "an operator's CLI needs no adapter",
			allows: func(_ source, p string) bool {
				return !inside(p, module+"/adapters") && !inside(p, module+"/worker") && !inside(p, module+"/activities")
			},
			breach: source{path: "starter/x.go", imports: []string{module + "/adapters/flink"}},
		},
		{
			name: "what is played is not shipped", applies: func(s source) bool {
				return !s.test && (inside(s.dir(), "worker") || inside(s.dir(), "starter") || inside(s.dir(), "adapters") || inside(s.dir(), "activities") || inside(s.dir(), "workflows"))
			}, why: "simulations are for tests, the demo and the benchmarks",
			allows: func(_ source, p string) bool {
				return !inside(p, module+"/internal/flinksim") && !inside(p, module+"/internal/kubesim")
			},
			breach: source{path: "worker/x.go", imports: []string{module + "/internal/kubesim"}},
		},
		{
			name: "only the worker knows adapters", applies: func(s source) bool {
				return !s.test && !inside(s.dir(), "worker") && !inside(s.dir(), "internal/config") && !inside(s.dir(), "adapters")
			}, why: "adapters are configured in internal/config and wired in worker",
			allows: func(_ source, p string) bool { return !inside(p, module+"/adapters") },
			breach: source{path: "internal/telemetry/x.go", imports: []string{module + "/adapters/flink"}},
		},
	}
}

func TestImports(t *testing.T) {
	t.Parallel()
	files := sources(t)
	if len(files) < 50 {
		t.Fatalf("only %d files were looked at", len(files))
	}
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if len(breaches(r, []source{r.breach})) == 0 {
				t.Errorf("the rule does not catch %s importing %s", r.breach.path, r.breach.imports)
			}
			for _, b := range breaches(r, files) {
				t.Errorf("%s: %s", b, r.why)
			}
		})
	}
}

func breaches(r rule, files []source) []string {
	var out []string
	for _, s := range files {
		if !r.applies(s) {
			continue
		}
		for _, p := range s.imports {
			if !r.allows(s, p) {
				out = append(out, s.path+" imports "+p)
			}
		}
	}
	return out
}

func TestEveryPackageHasOneComment(t *testing.T) {
	t.Parallel()
	docs := map[string]int{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		docs[s.dir()] += 0
		if s.doc {
			docs[s.dir()]++
		}
	}
	for dir, n := range docs {
		if n != 1 {
			t.Errorf("package %s has %d package comments, want 1 (in doc.go, or main.go of a program)", dir, n)
		}
	}
}

// sources parses every Go file of the module; build tags do not matter, since
// files are read, not built.
func sources(t *testing.T) []source {
	t.Helper()
	root := root(t)
	var out []source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin" || ownModule(path)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		s, err := parse(path, filepath.ToSlash(rel))
		out = append(out, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func ownModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func parse(path, rel string) (source, error) {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return source{}, err
	}
	s := source{path: rel, doc: f.Doc != nil, test: strings.HasSuffix(rel, "_test.go"), pkg: f.Name.Name}
	for _, i := range f.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return source{}, err
		}
		s.imports = append(s.imports, p)
	}
	return s, nil
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(filepath.Dir(dir))
}
