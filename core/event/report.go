package event

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"flinkscaler/core"
)

// Entry is one vertex of a scaling report. Rates are records per second.
type Entry struct {
	ID       string
	From, To int
	// Capacity is the true processing rate now, Expected the one at the new
	// size. NotApplicable is an idle vertex: its capacity has no bound.
	Capacity, Expected core.Reading
	Target             core.Reading
}

// entryOf is a vertex on its way to another size than the decision's: what is
// forbidden is reported as it would have been.
func entryOf(v core.VertexDecision, to int) Entry {
	v.To = to
	return Entry{ID: v.ID, From: v.From, To: to, Capacity: v.TrueRate, Expected: v.Expected(), Target: v.TargetRate}
}

func (e Entry) change() string { return fmt.Sprintf("Parallelism %d -> %d", e.From, e.To) }

// String is the form that programs parse: numbers have two decimals and a
// point, Infinity and NaN are as in Java.
func (e Entry) String() string {
	target := "NaN"
	if x, ok := e.Target.Value(); ok {
		target = twoPlaces(x)
	}
	return fmt.Sprintf("{ Vertex ID %s | %s | Processing capacity %s -> %s | Target data rate %s}",
		e.ID, e.change(), capacity(e.Capacity), capacity(e.Expected), target)
}

// Words of Java for what is no number.
const (
	infinity = "Infinity"
	notKnown = "NaN"
)

func capacity(r core.Reading) string {
	if x, ok := r.Value(); ok {
		return twoPlaces(x)
	}
	if r.State() == core.NotApplicable {
		return infinity
	}
	return notKnown
}

// twoPlaces writes a number with two decimals. Java rounds the half away from
// zero, on the shortest decimal form that still means the number: 1.005 is
// 1.01 though the float lies below.
func twoPlaces(x float64) string {
	text, negative := strings.CutPrefix(strconv.FormatFloat(x, 'f', -1, 64), "-")
	whole, part, _ := strings.Cut(text, ".")
	if len(part) > 2 {
		n, _ := new(big.Int).SetString(whole+part[:2], 10)
		if part[2] >= '5' {
			n.Add(n, big.NewInt(1))
		}
		digits := fmt.Sprintf("%03s", n)
		whole, part = digits[:len(digits)-2], digits[len(digits)-2:]
	}
	out := whole + "." + (part + "00")[:2]
	if negative {
		return "-" + out
	}
	return out
}

// report writes a header and the entries. A header has no braces, by which
// programs find the entries.
func report(header string, entries []Entry) string {
	var b strings.Builder
	b.WriteString(header)
	for _, e := range entries {
		b.WriteString(" " + e.String())
	}
	return b.String()
}

const opening = "{ Vertex ID "

var entryForm = regexp.MustCompile(`\{ Vertex ID (\S+) \| Parallelism (\d+) -> (\d+) \| Processing capacity (\S+) -> (\S+) \| Target data rate (\S+?)\}`) //nolint:gochecknoglobals // a constant

// ParseReport reads the entries of a scaling report, ours or Java's, in their
// order. A message without any is an error, and so is an entry that cannot be
// read: half a report would be a wrong one.
func ParseReport(message string) ([]Entry, error) {
	found := entryForm.FindAllStringSubmatch(message, -1)
	if n := strings.Count(message, opening); n == 0 || n != len(found) {
		return nil, fmt.Errorf("parse scaling report: %d of %d entries can be read", len(found), n)
	}
	out := make([]Entry, 0, len(found))
	for _, f := range found {
		e := Entry{ID: f[1]}
		var err error
		for i, to := range []*int{&e.From, &e.To} {
			if *to, err = strconv.Atoi(f[2+i]); err != nil {
				return nil, fmt.Errorf("parse scaling report: vertex %s: %w", e.ID, err)
			}
		}
		for i, to := range []*core.Reading{&e.Capacity, &e.Expected, &e.Target} {
			if *to, err = parseRate(f[4+i]); err != nil {
				return nil, fmt.Errorf("parse scaling report: vertex %s: %w", e.ID, err)
			}
		}
		out = append(out, e)
	}
	return out, nil
}

func parseRate(s string) (core.Reading, error) {
	switch s {
	case infinity, "+Inf", "Inf":
		return core.Absent(core.NotApplicable), nil
	case notKnown:
		return core.Reading{}, nil
	}
	x, err := strconv.ParseFloat(s, 64)
	return core.Read(x), err
}
