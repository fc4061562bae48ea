package strategy

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// leastRows guards against a table that is not read.
const leastRows = 150

// TestRows holds core/testdata/cases/rows.md against what there is: each case
// and each test that a row names exists, and no case is left out.
func TestRows(t *testing.T) {
	t.Parallel()
	cases := map[string]bool{}
	for _, file := range caseFiles(t) {
		cases[strings.TrimSuffix(filepath.Base(file), ".txt")] = false
	}
	rows := 0
	for _, row := range readRows(t) {
		rows++
		if len(row.proofs) == 0 {
			t.Errorf("row %q names no case and no test", row.title)
		}
		for _, proof := range row.proofs {
			if folder, test, ok := strings.Cut(proof, ".Test"); ok {
				if !hasTest(t, folder, "Test"+test) {
					t.Errorf("row %q: there is no %s", row.title, proof)
				}
				continue
			}
			if _, ok := cases[proof]; !ok {
				t.Errorf("row %q: there is no case %s", row.title, proof)
			}
			cases[proof] = true
		}
	}
	if rows < leastRows {
		t.Errorf("%d rows; want at least %d", rows, leastRows)
	}
	source := regexp.MustCompile(`^(java|bc|user)-`)
	for name, named := range cases {
		if source.MatchString(name) && !named {
			t.Errorf("case %s is in no row", name)
		}
	}
}

// row is a line of a table, with what proves it.
type row struct {
	title  string
	proofs []string
}

func readRows(t *testing.T) []row {
	t.Helper()
	text, err := os.ReadFile("../testdata/cases/rows.md")
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	var out []row
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.HasPrefix(line, "|---") || strings.TrimSpace(cells[3]) == "Where" {
			continue
		}
		r := row{title: strings.TrimSpace(cells[1]) + ": " + strings.TrimSpace(cells[2])}
		for _, m := range quoted.FindAllStringSubmatch(cells[3], -1) {
			r.proofs = append(r.proofs, m[1])
		}
		out = append(out, r)
	}
	return out
}

// hasTest looks for a test function in a folder of the module.
func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}
