package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"testing"

	"flinkscaler/core/policy"
)

// TestOnlyTestsSetQuirks: a quirk makes us do what an old release of another
// autoscaler does. No program may ever ask for one; the comparison with that
// release is a test, whatever its files are called.
func TestOnlyTestsSetQuirks(t *testing.T) {
	t.Parallel()
	const planted = "package x\nfunc f() { p.Quirks = 1; q := policy.Policy{Quirks: 2}; p.Quirks |= 4; use(&p.Quirks) }"
	if got := quirksSet(t, "x.go", planted); len(got) != 4 {
		t.Errorf("the rule finds %d of 4 places: %v", len(got), got)
	}
	looked := 0
	for _, s := range sources(t) {
		if s.test || inside(s.dir(), "e2e") {
			continue
		}
		looked++
		for _, place := range quirksSet(t, filepath.Join(root(t), filepath.FromSlash(s.path)), nil) {
			t.Errorf("%s sets quirks: only tests may", place)
		}
		for _, p := range s.imports {
			if p == module+"/e2e/oracle" {
				t.Errorf("%s imports %s: that is a test", s.path, p)
			}
		}
	}
	if looked < 50 {
		t.Errorf("only %d files were looked at", looked)
	}
}

// quirksSet finds where a file sets a field named Quirks, or hands it out to be
// set.
func quirksSet(t *testing.T, file string, content any) []string {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, content, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	found := func(n ast.Node) { out = append(out, fmt.Sprint(fset.Position(n.Pos()))) }
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if slices.ContainsFunc(n.Lhs, isQuirks) {
				found(n)
			}
		case *ast.KeyValueExpr:
			if k, ok := n.Key.(*ast.Ident); ok && k.Name == "Quirks" {
				found(n)
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND && isQuirks(n.X) {
				found(n)
			}
		}
		return true
	})
	return out
}

func isQuirks(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Quirks"
}

// TestNoKeySetsQuirks: whatever a policy says, no quirk comes of it.
func TestNoKeySetsQuirks(t *testing.T) {
	t.Parallel()
	values := map[string]string{policy.Prefix + "quirks": "1"}
	for _, k := range policy.Keys() {
		values[k.Key] = k.Default
	}
	if p, _, _ := policy.Resolve([]policy.Layer{{Name: "all", Values: values}}); p.Quirks != 0 {
		t.Errorf("quirks %b out of keys", p.Quirks)
	}
}

// TestEveryQuirkHasItsDifference: what can be switched off is told.
func TestEveryQuirkHasItsDifference(t *testing.T) {
	t.Parallel()
	var told policy.Quirk
	names := map[string]bool{}
	for _, d := range policy.Differences() {
		if told&d.Quirk != 0 || names[d.Name] {
			t.Errorf("%s: told twice", d.Name)
		}
		told, names[d.Name] = told|d.Quirk, true
		if d.Ticket == "" || d.Java == "" || d.Ours == "" {
			t.Errorf("%s: something is left out", d.Name)
		}
	}
	if told != policy.AllQuirks {
		t.Errorf("quirks without a difference: %b", policy.AllQuirks&^told)
	}
}
