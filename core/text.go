package core

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// columns is the width of a Decision's text.
const columns = 100

// Decimal writes a reading without exponent, to three places, or its state.
func Decimal(r Reading) string {
	f, ok := r.Value()
	if !ok {
		return r.state.String()
	}
	return strconv.FormatFloat(Round3(f), 'f', -1, 64)
}

// Title is the name of a vertex for people, at most so many runes long; its id
// where it has no name.
func (t Topology) Title(id string, most int) string {
	v, _ := t.Find(id)
	name := []rune(v.Name)
	if len(name) == 0 {
		name = []rune(id)
	}
	if len(name) > most {
		return string(name[:most-1]) + "…"
	}
	return string(name)
}

// Text tells the decision with its arithmetic, so that a person can do it
// again with a pocket calculator. Vertices come in the order in which records
// pass them.
func (d Decision) Text(t Topology) string {
	w := &page{}
	w.line(0, fmt.Sprintf("%s: %s", d.Verdict, d.Reason))
	w.line(2, d.Note)
	w.line(2, d.evidence())
	w.line(2, d.Restart)
	for _, p := range d.Problems {
		w.line(2, "problem: "+p.String())
	}
	seen := map[string]bool{}
	for _, v := range t.Ordered() {
		for _, x := range d.Vertices {
			if x.ID == v.ID {
				x.text(w, t)
				seen[x.ID] = true
			}
		}
	}
	for _, x := range d.Vertices {
		if !seen[x.ID] {
			x.text(w, t)
		}
	}
	d.Memory.text(w)
	return w.b.String()
}

// text lists the options as they would stand in a configuration.
func (m *MemoryAdvice) text(w *page) {
	if m == nil {
		return
	}
	w.line(0, "")
	w.line(0, "memory of a TaskManager, a recommendation that is not carried out:")
	for _, o := range m.Set {
		w.line(2, o.Key+": "+o.Value)
	}
	for _, k := range m.Remove {
		w.line(2, "without "+k)
	}
}

// evidence says when, by what rule and on what the decision was made.
func (d Decision) evidence() string {
	s := fmt.Sprintf("decision %s at %s", d.ID, d.At.UTC().Format("2006-01-02 15:04:05 UTC"))
	if d.Strategy != "" {
		s += ", strategy " + d.Strategy
	}
	s += fmt.Sprintf(", %d samples over %s", d.Samples, d.Span.Round(time.Second))
	if !d.WindowEnds.IsZero() {
		s += ", window full at " + d.WindowEnds.UTC().Format("15:04:05")
	}
	return s
}

func (v VertexDecision) text(w *page, t Topology) {
	size := fmt.Sprintf("%d -> %d", v.From, v.To)
	if v.To == v.From {
		size = fmt.Sprintf("stays at %d", v.From)
	}
	title := t.Title(v.ID, 50)
	if x, ok := t.Find(v.ID); ok && x.Name != "" && x.Name != v.ID {
		title += " (" + v.ID + ")"
	}
	w.line(0, "")
	w.line(0, fmt.Sprintf("%s: %s, %s", title, size, v.Why))
	w.line(2, v.Note)
	if v.TargetRate.State() == Present {
		w.line(2, v.work())
		w.line(2, v.bounds())
	}
	if f := v.formula(); f != "" {
		w.line(2, f)
	}
	if v.Coefficient > 0 {
		w.line(2, fmt.Sprintf("past sizes did %s of what a linear vertex does", Decimal(Read(v.Coefficient))))
	}
	w.line(2, v.Effect.text())
	if v.Outside && v.Why == ReasonWithinTarget && v.From == v.Wanted && len(v.Steps) == 0 {
		w.line(2, "no smaller size does the work")
	}
	for i, s := range v.Steps {
		if i == 0 && s.By == "formula" {
			continue
		}
		note := s.Note
		if note != "" {
			note = ": " + note
		}
		w.line(2, fmt.Sprintf("then %d by %s%s", s.To, s.By, note))
	}
}

// text says what the last scale-up brought; empty for none.
func (e *Effect) text() string {
	if e == nil {
		return ""
	}
	s := fmt.Sprintf("its last scale-up brought %s/s of %s/s, seen %d time(s)", Decimal(Read(e.Gain)), Decimal(Read(e.ExpectedGain)), e.Proofs)
	if e.Blocks {
		s += "; it gets no larger until " + e.Until.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return s
}

// work says what the vertex has to do and could do.
func (v VertexDecision) work() string {
	s := fmt.Sprintf("has to do %s/s", Decimal(v.TargetRate))
	if lag, ok := v.Lag.Value(); ok && lag > 0 {
		s += fmt.Sprintf(" with a lag of %s", Decimal(v.Lag))
	}
	if c, ok := v.CatchUpRate.Value(); ok && c > 0 {
		s += fmt.Sprintf(" and %s/s to catch up", Decimal(v.CatchUpRate))
	}
	if load, ok := v.Load.Value(); ok {
		s += fmt.Sprintf("; busy %s %%", Decimal(Read(load*100)))
	}
	if v.TrueRate.State() == NotApplicable {
		return s + "; idle, so its rate at full load has no bound"
	}
	if v.TrueRate.State() != Present {
		return s + "; what it could do at full load is not known"
	}
	return s + fmt.Sprintf("; could do %s/s at full load", Decimal(v.TrueRate))
}

// bounds says between which true rates it stays.
func (v VertexDecision) bounds() string {
	s := fmt.Sprintf("gets more below %s/s, ", Decimal(v.UpBelow))
	if v.DownAbove.State() == Present {
		s += fmt.Sprintf("fewer above %s/s", Decimal(v.DownAbove))
	} else {
		s += "never fewer"
	}
	if v.Outside {
		s += ": outside"
	}
	if v.Capacity.State() == Present {
		s += fmt.Sprintf("; a new size is chosen for %s/s", Decimal(v.Capacity))
	}
	return s
}

// formula repeats how the size came about, where it did by the formula.
func (v VertexDecision) formula() string {
	got := v.Wanted
	switch {
	case len(v.Steps) > 0 && v.Steps[0].By == "formula":
		got = v.Steps[0].To
	case v.Why == ReasonOverride || v.Why == ReasonExcluded || v.Why == ReasonWindowNotFull || v.Why == ReasonStabilizing:
		return ""
	}
	capacity, ok1 := v.Capacity.Value()
	rate, ok2 := v.TrueRate.Value()
	if !ok1 || !ok2 || rate <= 0 {
		return ""
	}
	exact := float64(float64(capacity/rate) * float64(v.From))
	if int(math.Ceil(exact)) != got {
		return ""
	}
	return fmt.Sprintf("%d x %s / %s = %s, rounded up %d", v.From, Decimal(v.Capacity), Decimal(v.TrueRate), Decimal(Read(exact)), got)
}

// page collects lines no longer than columns.
type page struct{ b strings.Builder }

// line writes a text, broken between words, its further lines indented by two
// more. An empty text at an indent writes nothing.
func (w *page) line(indent int, text string) {
	if text == "" {
		if indent == 0 {
			w.b.WriteByte('\n')
		}
		return
	}
	at := 0
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case at == 0:
			at = indent
			w.b.WriteString(strings.Repeat(" ", indent))
		case at+1+n > columns:
			at = indent + 2
			w.b.WriteString("\n" + strings.Repeat(" ", at))
		default:
			at++
			w.b.WriteByte(' ')
		}
		for n > columns-at {
			cut := []rune(word)
			w.b.WriteString(string(cut[:columns-at]) + "\n" + strings.Repeat(" ", indent+2))
			word, at = string(cut[columns-at:]), indent+2
			n = utf8.RuneCountInString(word)
		}
		w.b.WriteString(word)
		at += n
	}
	w.b.WriteByte('\n')
}
