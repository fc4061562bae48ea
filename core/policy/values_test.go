package policy

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseMemory(t *testing.T) {
	t.Parallel()
	good := map[string]int64{
		"0": 0, "1024": 1024, "7b": 7, "7 bytes": 7, "2k": 2 << 10, "2 KB": 2 << 10, "3 kibibytes": 3 << 10, "512mb": 512 << 20, "1m": 1 << 20,
		" 4 mebibytes ": 4 << 20, "2g": 2 << 30, "2Gb": 2 << 30, "1 gibibytes": 1 << 30, "1t": 1 << 40, "5 tb": 5 << 40, "1 tebibytes": 1 << 40,
		"9223372036854775807": math.MaxInt64, "8388607 tb": 8388607 << 40,
	}
	for text, want := range good {
		if got, err := ParseMemory(text); err != nil || got != want {
			t.Errorf("ParseMemory(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "mb", "-1 mb", "1.5 gb", "2 pb", "8388608 tb", "9223372036854775808", "1 g b"} {
		if got, err := ParseMemory(text); err == nil {
			t.Errorf("ParseMemory(%q) = %d; want an error", text, got)
		}
	}
	for bytes, want := range map[int64]string{0: "0 bytes", 1: "1 bytes", 1 << 10: "1 kb", 120 << 20: "120 mb", 13760 << 10: "13760 kb", 20108162027: "20108162027 bytes", 3 << 40: "3 tb"} {
		got := FormatMemory(bytes)
		if again, err := ParseMemory(got); got != want || err != nil || again != bytes {
			t.Errorf("FormatMemory(%d) = %q, read again as %d, %v; want %q", bytes, got, again, err, want)
		}
	}
}

func TestParseListKeepsTheOrder(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                 nil,
		" ; ;":             nil,
		"b;a;b":            {"b", "a", "b"},
		"'a;1';\"b\"":      {"a;1", "b"},
		"'it''s';x":        {"it's", "x"},
		"o'clock;x":        {"o'clock", "x"},
		"[b, a]":           {"b", "a"},
		"['a,1', \"b\" ,]": {"a,1", "b"},
		"[]":               nil,
		"a, b":             {"a, b"},
	} {
		got, err := parseList(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("parseList(%q): %v (-want +got):\n%s", text, err, diff)
		}
	}
	for _, text := range []string{"'a", "'a'b;c", `["x]`, `'a"`} {
		if got, err := parseList(text); err == nil {
			t.Errorf("parseList(%q) = %q; want an error", text, got)
		}
	}
}

func TestParseMap(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]Param{
		"":                         nil,
		"{}":                       nil,
		"b:2,a:1":                  {{"a", "1"}, {"b", "2"}},
		" a : 1 , b : 2 ":          {{"a", "1"}, {"b", "2"}},
		"{a: 1, b: 2}":             {{"a", "1"}, {"b", "2"}},
		"{'a:x': \"1\", b: '2,3'}": {{"a:x", "1"}, {"b", "2,3"}},
		"'a:1,b',c:2":              {{"a", "1,b"}, {"c", "2"}},
		"'a:1',c:2":                {{"a", "1"}, {"c", "2"}},
		"'a,b':1":                  {{"a,b", "1"}},
		"a:'x:y'":                  {{"a", "x:y"}},
	} {
		got, err := ParseMap(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("ParseMap(%q): %v (-want +got):\n%s", text, err, diff)
		}
	}
	for _, text := range []string{"a", "a:1,a:2", "a:", ":1", "a:b:c", "{a 1}", "{a, b: 1}", "a:'1", "{a: }"} {
		if got, err := ParseMap(text); err == nil {
			t.Errorf("ParseMap(%q) = %v; want an error", text, got)
		}
	}
}

func TestFloorsAsWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]Floor{
		"8:00-18:00 = 4":                     {{Period: period(t, "8:00-18:00"), All: 4}},
		"8:00-18:00=b:2,a:3;* * * ? * 1 = 5": {{Period: period(t, "8:00-18:00"), Vertices: []VertexCount{{"a", 3}, {"b", 2}}}, {Period: period(t, "* * * ? * 1"), All: 5}},
		"['8:00-9:00 = a:1,b:2']":            {{Period: period(t, "8:00-9:00"), Vertices: []VertexCount{{"a", 1}, {"b", 2}}}},
	} {
		got, err := parseFloors(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("parseFloors(%q): %v (-want +got):\n%s", text, err, diff)
		}
		for _, f := range got {
			again, err := parseFloor(f.String())
			if diff := cmp.Diff(f, again); diff != "" || err != nil {
				t.Errorf("%q read again: %v (-want +got):\n%s", f, err, diff)
			}
		}
	}
	for _, text := range []string{"8:00-18:00", "8:00-18:00 = 0", "8:00-18:00 = x", "8:00-18:00 = a:0", "18:00-8:00 = 4", "= 4", "8:00-18:00 =", "8:00-18:00 = {}"} {
		if got, err := parseFloors(text); err == nil {
			t.Errorf("parseFloors(%q) = %v; want an error", text, got)
		}
	}
}
