package k8s

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// object is an object of the Kubernetes API as one GET gave it.
type object struct{ *unstructured.Unstructured }

// field reads what is at a path, nil for nothing.
func (o *object) field(path ...string) any {
	v, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
	return v
}

// text reads a text, number or truth at a path, empty for none.
func (o *object) text(path ...string) string {
	return scalar(o.field(path...))
}

// number reads a whole number at a path, 0 for none.
func (o *object) number(path ...string) int {
	n, err := strconv.Atoi(o.text(path...))
	if err != nil {
		return 0
	}
	return n
}

func scalar(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case string:
		return x
	case bool, int64, int:
		return fmt.Sprint(x)
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return ""
}

// config is spec.flinkConfiguration as it is written, nil for none.
func (o *object) config() map[string]any {
	m, _ := o.field("spec", "flinkConfiguration").(map[string]any)
	return m
}

// options flattens Flink options, which may be nested, dotted, or both: nested
// keys are joined by dots, lists by semicolons, as the operator does it.
func (o *object) options(path ...string) map[string]string {
	out := map[string]string{}
	if m, ok := o.field(path...).(map[string]any); ok {
		flatten("", m, out)
	}
	return out
}

func flatten(prefix string, m map[string]any, out map[string]string) {
	for k, v := range m {
		switch x := v.(type) {
		case map[string]any:
			flatten(prefix+k+".", x, out)
		case []any:
			parts := make([]string, 0, len(x))
			for _, e := range x {
				parts = append(parts, scalar(e))
			}
			out[prefix+k] = strings.Join(parts, ";")
		default:
			out[prefix+k] = scalar(x)
		}
	}
}
