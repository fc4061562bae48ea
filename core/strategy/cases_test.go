package strategy

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what is decided into the case files") //nolint:gochecknoglobals // a test flag

// leastCases guards against a corpus that is not found.
const leastCases = 200

// caseFiles are the files of the corpus; cases.md beside them tells the format.
func caseFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../testdata/cases/*.txt")
	if err != nil || len(files) < leastCases {
		t.Fatalf("%d case files, %v; want at least %d", len(files), err, leastCases)
	}
	return files
}

// TestCases runs every file of core/testdata/cases.
func TestCases(t *testing.T) {
	t.Parallel()
	for _, file := range caseFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			given, want, _ := strings.Cut(string(text), "\nexpect\n")
			got := play(t, given)
			for _, line := range strings.Split(got, "\n") {
				if utf8.RuneCountInString(line) > columns {
					t.Errorf("a line of more than %d columns: %q", columns, line)
				}
			}
			if *update {
				if err := os.WriteFile(file, []byte(strings.TrimRight(given, "\n")+"\n\nexpect\n"+got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// columns is the width of what a case expects.
const columns = 100

// line is one line of a section, without its indentation.
type line struct {
	indent int
	text   string
}

// section is a part of a case: a word, and the indented lines under it.
type section struct {
	name  string
	lines []line
}

// sections cuts what is given of a case, after its reason, into sections.
func sections(t *testing.T, given string) []section {
	t.Helper()
	_, body, ok := strings.Cut(given, "\n\n")
	if !ok {
		t.Fatal("a case begins with its reason and an empty line")
	}
	var out []section
	for _, raw := range strings.Split(body, "\n") {
		text := strings.TrimSpace(raw)
		switch {
		case text == "" || strings.HasPrefix(text, "#"):
		case !strings.HasPrefix(raw, " "):
			out = append(out, section{name: text})
		case len(out) == 0:
			t.Fatalf("line %q before any section", raw)
		default:
			s := &out[len(out)-1]
			s.lines = append(s.lines, line{indent: len(raw) - len(strings.TrimLeft(raw, " ")), text: text})
		}
	}
	return out
}

// words splits at spaces outside of double quotes.
func words(text string) []string {
	var out []string
	var w strings.Builder
	quoted := false
	for _, c := range text + " " {
		switch {
		case c == '"':
			quoted = !quoted
		case c == ' ' && !quoted:
			if w.Len() > 0 {
				out = append(out, w.String())
			}
			w.Reset()
		default:
			w.WriteRune(c)
		}
	}
	return out
}
