package kubelocal

import (
	"strings"
	"testing"
)

func TestLabels(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ reason, text, want string }{
		"a test":        {"names of tests have slashes and capitals", "TestX/Some_Case", "testx-some-case"},
		"odd at an end": {"a label begins and ends with a letter or a digit", "--a--", "a"},
		"nothing left":  {"a name has to begin with something", "__", "test"},
		"long":          {"room is left for a number", strings.Repeat("a", 49) + "-bcd", strings.Repeat("a", 49)},
	}
	for name, tc := range cases {
		if got := label(tc.text); got != tc.want {
			t.Errorf("%s: label(%q) = %q; want %q: %s", name, tc.text, got, tc.want, tc.reason)
		}
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	objects, err := decode("---\n---\nkind: A\n---\n# nothing\n---\n{\"kind\": \"B\"}\n")
	if err != nil || len(objects) != 2 || objects[0].GetKind() != "A" || objects[1].GetKind() != "B" {
		t.Errorf("decode = %v, %v; want kinds A and B", objects, err)
	}
}

func TestDefinitionsWithoutAServedVersion(t *testing.T) {
	t.Parallel()
	objects, err := decode("spec: {group: g, names: {plural: things}, versions: [{name: v1, served: false}, {name: v2, served: true}]}")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := defined(objects[0]); err != nil || got.String() != "g/v2, Resource=things" {
		t.Errorf("defined = %v, %v", got, err)
	}
	objects[0].Object["spec"].(map[string]any)["versions"] = []any{}
	if got, err := defined(objects[0]); err == nil {
		t.Errorf("defined = %v; want an error, since nothing is served", got)
	}
}
