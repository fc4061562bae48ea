package yarn

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzTelling: whatever a Flink command prints, it is told in one line of text
// that is no longer than any other, and no more of it is kept than was said.
func FuzzTelling(f *testing.F) {
	for _, s := range []string{
		"", "a\nb\n", "x.y.FooException: one\n\tat z\nCaused by: a.b.BarException: c.BazException: two\n\t... 3 more\nlast", "Caused by: ", "Caused by: a.b: ", "Exception: ",
		"at x\n...", "Caused by: a.b.C\n", strings.Repeat("Caused by: a.b: ", 500), "\xff\xfe", "\r\n\t\r", strings.Repeat("é", 5000),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, output string) {
		got := telling(output)
		if strings.ContainsAny(got, "\n") || len(got) > maxWords+len("…") {
			t.Errorf("%q tells %q", output, got)
		}
		if utf8.ValidString(output) && !utf8.ValidString(got) {
			t.Errorf("%q tells %q, which is no text", output, got)
		}
		w := &tail{most: 100}
		_, _ = w.Write([]byte(output))
		if !utf8.ValidString(w.text()) || len(w.b) > 100 {
			t.Errorf("kept %q of %q", w.text(), output)
		}
	})
}
