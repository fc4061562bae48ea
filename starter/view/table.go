package view

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Align is the side on which a column's cells stand.
type Align int

// The sides: text stands left, numbers right.
const (
	Left Align = iota
	Right
)

// Column is one column of a Table.
type Column struct {
	Title string
	Align Align
	// Max clips the cells, 0 for no limit.
	Max int
}

// Table is an aligned table. The last column is clipped to what is left of
// Width; Width 0 clips nothing, as befits a pipe.
type Table struct {
	Columns []Column
	Width   int
	Indent  string
	// Style may colour a cell after it was aligned; nil for no colour.
	Style func(row, column int, text string) string

	rows [][]string
}

// Row adds a row; missing cells are empty.
func (t *Table) Row(cells ...string) {
	row := make([]string, len(t.Columns))
	for i := range row {
		if i < len(cells) {
			row[i] = Clean(cells[i])
		}
		if most := t.Columns[i].Max; most > 0 {
			row[i] = Clip(row[i], most)
		}
	}
	t.rows = append(t.rows, row)
}

// Len counts the rows.
func (t *Table) Len() int { return len(t.rows) }

const gap = "  "

// WriteTo writes title line and rows.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	widths := t.widths()
	titles := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		titles[i] = c.Title
	}
	t.line(&b, -1, titles, widths)
	for i, row := range t.rows {
		t.line(&b, i, row, widths)
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

func (t *Table) widths() []int {
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		widths[i] = utf8.RuneCountInString(c.Title)
		for _, row := range t.rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	if t.Width > 0 && len(widths) > 0 {
		used := utf8.RuneCountInString(t.Indent)
		for _, w := range widths[:len(widths)-1] {
			used += w + len(gap)
		}
		last := len(widths) - 1
		widths[last] = min(widths[last], max(t.Width-used, utf8.RuneCountInString(t.Columns[last].Title)))
	}
	return widths
}

func (t *Table) line(b *strings.Builder, row int, cells []string, widths []int) {
	var plain strings.Builder
	plain.WriteString(t.Indent)
	for i, cell := range cells {
		cell = Clip(cell, widths[i])
		fill := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		styled := cell
		if t.Style != nil && row >= 0 {
			styled = t.Style(row, i, cell)
		}
		if i > 0 {
			plain.WriteString(gap)
		}
		if t.Columns[i].Align == Right {
			plain.WriteString(fill + styled)
		} else {
			plain.WriteString(styled + fill)
		}
	}
	b.WriteString(strings.TrimRight(plain.String(), " "))
	b.WriteByte('\n')
}
