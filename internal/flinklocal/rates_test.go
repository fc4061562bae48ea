package flinklocal

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestRateFileOnlyGrows(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "rates")
	var before string
	for _, rate := range []float64{300, 2500.5, 0} {
		// Opened anew each time: a second writer carries on as well.
		rates, err := NewRateFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := rates.Set(rate); err != nil {
			t.Fatal(err)
		}
		after := readFile(t, path)
		if !strings.HasPrefix(after, before) || strings.Count(after, "\n") != strings.Count(before, "\n")+1 {
			t.Fatalf("setting %v made %q of %q; want one line more", rate, after, before)
		}
		before = after
	}
	for i, want := range []string{" 300", " 2500.5", " 0"} {
		if line := strings.Split(before, "\n")[i]; !strings.HasSuffix(line, want) {
			t.Errorf("line %q; want it to end with %q", line, want)
		}
	}
}

func TestRateFileNeverGoesBackInTime(t *testing.T) {
	t.Parallel()
	const future = "99999999999999"
	path := filepath.Join(t.TempDir(), "rates")
	if err := os.WriteFile(path, []byte("1 5\n"+future+" 10\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	rates, err := NewRateFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := rates.Set(20); err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, path); !strings.HasSuffix(got, future+" 10\n"+future+" 20\n") {
		t.Errorf("file %q; want the new line not before the last", got)
	}
}

func TestRateFileRefusesNonsense(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "rates")
	rates, err := NewRateFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1)} {
		if err := rates.Set(bad); err == nil {
			t.Errorf("Set(%v) is accepted", bad)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a refused rate wrote the file")
	}
	if err := os.WriteFile(path, []byte("no rates\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := NewRateFile(path); err == nil {
		t.Error("another file is taken for a rate file")
	}
}
