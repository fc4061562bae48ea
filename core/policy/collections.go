package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// split cuts a text at a separator, as Flink does: an entry that begins with a
// quote goes to the closing one, a doubled quote inside stands for itself, and
// blanks around entries do not count. Empty entries are left out.
func split(text string, sep byte) ([]string, error) {
	var out []string
	for rest := text; ; {
		rest = strings.TrimLeft(rest, " \t\r\n")
		if rest == "" {
			return out, nil
		}
		entry, after, err := nextEntry(rest, sep)
		if err != nil {
			return nil, err
		}
		if entry != "" {
			out = append(out, entry)
		}
		rest = after
	}
}

// nextEntry takes the first entry and its separator off a text.
func nextEntry(text string, sep byte) (entry, rest string, err error) {
	if text[0] != '\'' && text[0] != '"' {
		entry, rest, _ = strings.Cut(text, string(sep))
		return strings.TrimSpace(entry), rest, nil
	}
	entry, rest, err = quoted(text)
	if err != nil {
		return "", "", err
	}
	rest = strings.TrimLeft(rest, " \t\r\n")
	if rest == "" {
		return entry, "", nil
	}
	if rest[0] != sep {
		return "", "", fmt.Errorf("after a quoted entry must come %q", string(sep))
	}
	return entry, rest[1:], nil
}

// quoted takes a quoted text off the beginning.
func quoted(text string) (inside, rest string, err error) {
	var b strings.Builder
	quote := text[0]
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] != quote:
			b.WriteByte(text[i])
		case i+1 < len(text) && text[i+1] == quote:
			b.WriteByte(quote)
			i++
		default:
			return b.String(), text[i+1:], nil
		}
	}
	return "", "", fmt.Errorf("a quote %c is not closed", quote)
}

// parseList reads entries in their order: separated by semicolons as Flink
// writes them, or a YAML list in one line, [a, b], as Flink 2 shows it.
func parseList(text string) ([]string, error) {
	s := strings.TrimSpace(text)
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		return split(s[1:len(s)-1], ',')
	}
	return split(s, ';')
}

// parseSet reads a list whose order means nothing: sorted, without doubles.
func parseSet(text string) ([]string, error) {
	out, err := parseList(text)
	slices.Sort(out)
	return slices.Compact(out), err
}

// ParseMap reads pairs as Flink writes them, k:v,k:v, or a YAML map in one
// line, {k: v, k: v}, as Flink 2 shows it. The pairs are sorted by key; a key
// that comes twice is an error.
func ParseMap(text string) ([]Param, error) {
	s := strings.TrimSpace(text)
	cut := pair
	if strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}") {
		s, cut = s[1:len(s)-1], flowPair
	}
	var out []Param
	for rest := s; strings.TrimSpace(rest) != ""; {
		p, after, err := cut(strings.TrimSpace(rest))
		if err != nil {
			return nil, err
		}
		out, rest = append(out, p), after
	}
	slices.SortFunc(out, func(a, b Param) int { return strings.Compare(a.Key, b.Key) })
	for i := 1; i < len(out); i++ {
		if out[i].Key == out[i-1].Key {
			return nil, fmt.Errorf("%s is there twice", out[i].Key)
		}
	}
	return out, nil
}

// pair takes k:v off the beginning; quotes, if any, are around the whole pair
// or around its halves.
func pair(text string) (Param, string, error) {
	item, rest, err := nextEntry(text, ',')
	if err != nil {
		return flowPair(text)
	}
	halves, err := split(item, ':')
	if err != nil {
		return Param{}, "", err
	}
	if len(halves) != 2 {
		return Param{}, "", fmt.Errorf("%q is not a pair such as key:value", item)
	}
	return Param{Key: halves[0], Value: halves[1]}, rest, nil
}

// flowPair takes k: v off the beginning, each half quoted or not.
func flowPair(text string) (Param, string, error) {
	key, rest, err := nextEntry(text, ':')
	if err != nil {
		return Param{}, "", err
	}
	rest = strings.TrimSpace(rest)
	if key == "" || rest == "" || strings.Contains(key, ",") && text[0] != '\'' && text[0] != '"' {
		return Param{}, "", fmt.Errorf("%q is not a pair such as key: value", text)
	}
	value, after, err := nextEntry(rest, ',')
	if err != nil {
		return Param{}, "", err
	}
	return Param{Key: key, Value: value}, after, nil
}

// parseCounts reads whole numbers of at least 1 by vertex id, sorted by id.
func parseCounts(text string) ([]VertexCount, error) {
	pairs, err := ParseMap(text)
	if err != nil {
		return nil, err
	}
	var out []VertexCount
	for _, p := range pairs {
		n, err := parseInt(p.Value)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%s: must be a whole number of at least 1, got %q", p.Key, p.Value)
		}
		out = append(out, VertexCount{ID: p.Key, N: n})
	}
	slices.SortFunc(out, func(a, b VertexCount) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}
