package core

import (
	"fmt"
	"math"
	"slices"
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
// pass them. Terms are those of the policy, none where they are not known.
func (d Decision) Text(t Topology, terms Terms) string {
	w := &page{}
	if d.RestartTime > 0 {
		terms.Restart = d.RestartTime
	}
	w.line(0, fmt.Sprintf("%s: %s", d.Verdict, d.Reason))
	w.line(2, d.Note)
	w.line(2, d.evidence())
	w.line(2, d.Restart)
	if slices.ContainsFunc(d.Vertices, func(v VertexDecision) bool { return v.TargetRate.State() == Present }) {
		w.line(2, terms.text())
	}
	for _, p := range d.Problems {
		w.line(2, "problem: "+p.String())
	}
	seen := map[string]bool{}
	for _, v := range t.Ordered() {
		for _, x := range d.Vertices {
			if x.ID == v.ID {
				x.text(w, t, terms)
				seen[x.ID] = true
			}
		}
	}
	for _, x := range d.Vertices {
		if !seen[x.ID] {
			x.text(w, t, terms)
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
		s += ", window full at " + d.WindowEnds.UTC().Format("15:04:05 UTC")
	}
	return s
}

func (v VertexDecision) text(w *page, t Topology, terms Terms) {
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
		w.line(2, v.work(terms))
		w.line(2, v.arrears(terms))
		w.line(2, v.upBound(terms))
		w.line(2, v.downBound(terms))
		w.line(2, v.chosenFor(terms))
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

// text says what the sums of all vertices are made with.
func (t Terms) text() string {
	if !t.known() {
		return ""
	}
	share := func(x float64) string { return Decimal(Read(x)) }
	return fmt.Sprintf("sums are made with a utilization of %s, at least %s and at most %s; a restart of %s s and a catch-up.duration of %s s; rates are rounded to whole records",
		share(t.Wanted), share(t.Least), share(t.Most), share(Seconds(t.Restart)), share(Seconds(t.CatchUp)))
}

// work says what the vertex has to do and could do.
func (v VertexDecision) work(t Terms) string {
	s := fmt.Sprintf("has to do %s/s", Decimal(v.TargetRate))
	lag, ok := v.Lag.Value()
	if ok && lag > 0 {
		s += fmt.Sprintf(" with a lag of %s", Decimal(v.Lag))
	}
	if c, ok := v.CatchUpRate.Value(); ok && c > 0 {
		sum := ""
		if within := Seconds(t.CatchUp); within > 0 && Round3(lag/within) == c {
			sum = fmt.Sprintf("%s / %s s = ", Decimal(v.Lag), Decimal(Read(within)))
		}
		s += fmt.Sprintf(" and %s%s/s to catch up", sum, Decimal(v.CatchUpRate))
	}
	rate, bound := v.TrueRate.Value()
	if load, ok := v.Load.Value(); ok {
		s += fmt.Sprintf("; busy %s %%", Decimal(Read(load*100)))
		if bound && load > 0 && !v.Observed {
			s += fmt.Sprintf(" with about %s/s", about(rate*load))
		}
	}
	switch {
	case v.TrueRate.State() == NotApplicable:
		return s + "; idle, so its rate at full load has no bound"
	case !bound:
		return s + "; what it could do at full load is not known"
	case v.Observed:
		return s + fmt.Sprintf("; was seen to do %s/s, which counts as its rate at full load", Decimal(v.TrueRate))
	}
	return s + fmt.Sprintf("; could do %s/s at full load", Decimal(v.TrueRate))
}

// about is a number to three digits: the share that it was made with is known to
// no more.
func about(x float64) string {
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(x)))-2)
	if x == 0 || !(unit > 0) {
		return Decimal(Read(x))
	}
	return Decimal(Read(math.Round(x/unit) * unit))
}

// sum is one of the vertex' rates in the making.
func (v VertexDecision) sum(t Terms, utilization float64, restart bool) Sum {
	s := Sum{Target: v.TargetRate.Or(0), CatchUp: v.CatchUpRate.Or(0), Utilization: utilization}
	if restart {
		s.Restart, s.Within = t.Restart, t.CatchUp
	}
	return s
}

// arrears says what a restart adds to the rates.
func (v VertexDecision) arrears(t Terms) string {
	s := v.sum(t, 1, true)
	if !t.known() || s.Arrears() <= 0 {
		return ""
	}
	return fmt.Sprintf("a restart leaves %s x %s s / %s s = %s/s to work off", Decimal(v.TargetRate), Decimal(Read(Seconds(t.Restart))), Decimal(Read(Seconds(t.CatchUp))), Decimal(Read(s.Arrears())))
}

// made is a rate with how it is made up, by the first of the sums that comes to
// it; by none it stands alone.
func made(rate Reading, sums ...Sum) string {
	out := Decimal(rate) + "/s"
	for _, s := range sums {
		if rate != Read(s.Rate()) {
			continue
		}
		out += fmt.Sprintf(" = %s / %s", Decimal(Read(s.Target)), Decimal(Read(s.Utilization)))
		for _, x := range []float64{s.CatchUp, s.Arrears()} {
			if x != 0 {
				out += " + " + Decimal(Read(x))
			}
		}
		return out
	}
	return out
}

// sums are those with a utilization and, while a backlog is worked off, with all
// of it; none where the terms are not known.
func (v VertexDecision) sums(t Terms, restart bool, utilizations ...float64) []Sum {
	if !t.known() {
		return nil
	}
	var out []Sum
	for _, u := range utilizations {
		out = append(out, v.sum(t, u, restart))
	}
	return out
}

// upBound and downBound say between which true rates the vertex stays, and which
// of them it has left.
func (v VertexDecision) upBound(t Terms) string {
	s := "gets more below " + made(v.UpBelow, v.sums(t, false, t.Most, 1)...)
	rate, ok1 := v.TrueRate.Value()
	if up, ok2 := v.UpBelow.Value(); ok1 && ok2 && v.Outside && rate < up {
		s += ": outside"
	}
	return s
}

func (v VertexDecision) downBound(t Terms) string {
	if v.DownAbove.State() != Present {
		return "never fewer now"
	}
	s := "gets fewer above " + made(v.DownAbove, v.sums(t, true, t.Least)...)
	rate, ok1 := v.TrueRate.Value()
	if down, ok2 := v.DownAbove.Value(); v.Outside && (!ok1 || ok2 && rate > down) {
		s += ": outside"
	}
	return s
}

// chosenFor says which rate a new size has to do.
func (v VertexDecision) chosenFor(t Terms) string {
	if v.Capacity.State() != Present {
		return ""
	}
	return "a new size is chosen for " + made(v.Capacity, v.sums(t, true, t.Wanted)...)
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
