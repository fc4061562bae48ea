package whatif

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/spec"
)

// reader decodes JSON into the types of core and finds everything that is
// wrong, each with its path. The library stops at the first problem, and takes
// unknown fields, fields given twice and null in silence.
type reader struct{ problems []core.Problem }

func (r *reader) bad(path, message string) {
	r.problems = append(r.problems, core.Problem{Path: path, Message: message})
}

// read decodes into what to points to.
func (r *reader) read(path string, raw []byte, to any) {
	r.value(path, raw, reflect.ValueOf(to).Elem())
}

func (r *reader) value(path string, raw []byte, v reflect.Value) {
	null := string(raw) == "null"
	switch own, isOwn := v.Addr().Interface().(json.Unmarshaler); {
	case isOwn:
		if null || own.UnmarshalJSON(raw) != nil {
			r.mismatch(path, raw, v)
		}
	case v.Kind() == reflect.Pointer:
		if !null {
			v.Set(reflect.New(v.Type().Elem()))
			r.value(path, raw, v.Elem())
		}
	case v.Kind() == reflect.Struct:
		r.object(path, raw, v)
	case v.Kind() == reflect.Slice:
		r.list(path, raw, v)
	case v.Kind() == reflect.Map:
		r.dictionary(path, raw, v)
	case null || json.Unmarshal(raw, v.Addr().Interface()) != nil:
		r.mismatch(path, raw, v)
	}
}

// mismatch says what would be right.
func (r *reader) mismatch(path string, raw []byte, v reflect.Value) {
	want := "another type"
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		want = "a time such as 2026-07-20T12:00:00Z"
	case v.Type() == reflect.TypeFor[core.Reading]():
		want = "a number, or one of missing, stale, incomplete, n/a"
	case v.Kind() == reflect.String:
		want = "a string"
	case v.Kind() == reflect.Bool:
		want = "true or false"
	case v.CanInt(), v.CanUint():
		want = "a whole number"
	case v.CanFloat():
		want = "a number"
	}
	r.bad(path, fmt.Sprintf("must be %s, got %s", want, spec.Cut(string(raw), 60)))
}

func (r *reader) fields(path string, raw []byte) (map[string]json.RawMessage, bool) {
	fields, problem := spec.Object("", raw)
	if problem == nil {
		return fields, true
	}
	if key := strings.TrimPrefix(problem.Path, "."); key != "" {
		path = join(path, key)
	}
	r.bad(path, problem.Message)
	return nil, false
}

func (r *reader) object(path string, raw []byte, v reflect.Value) {
	given, ok := r.fields(path, raw)
	if !ok {
		return
	}
	var known []string
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		known = append(known, name)
		if field, ok := given[name]; ok {
			r.value(join(path, name), field, v.Field(i))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(known, k) {
			r.bad(join(path, k), "unknown field; known are "+strings.Join(known, ", "))
		}
	}
}

func (r *reader) list(path string, raw []byte, v reflect.Value) {
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) != nil {
		r.bad(path, "must be a list, got "+spec.Cut(string(raw), 60))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(parts), len(parts)))
	for i, p := range parts {
		r.value(fmt.Sprintf("%s[%d]", path, i), p, v.Index(i))
	}
}

func (r *reader) dictionary(path string, raw []byte, v reflect.Value) {
	given, ok := r.fields(path, raw)
	if !ok {
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(given)))
	for _, k := range slices.Sorted(maps.Keys(given)) {
		element := reflect.New(v.Type().Elem()).Elem()
		r.value(fmt.Sprintf("%s[%q]", path, k), given[k], element)
		v.SetMapIndex(reflect.ValueOf(k), element)
	}
}
