package view

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"flinkscaler/core"
	"flinkscaler/workflows"
)

// Options are where and how a Live draws.
type Options struct {
	// Terminal says that Out can move its cursor; otherwise a line is written
	// for every change.
	Terminal bool
	Colour   Palette
	// Size gives the terminal's width and height; nil or zeros for the default.
	Size func() (width, height int)
	// Now is the clock, time.Now when nil.
	Now func() time.Time
	// Footer gives lines to show below the status on a terminal until Close;
	// nil for none. Where there is little room they stay, and the status is cut.
	Footer func() []string
}

// Live shows one job again and again: in place on a terminal, as one line per
// change elsewhere. It is not safe for concurrent use.
type Live struct {
	w io.Writer
	o Options
	// lines is the height of the frame on the screen, body that of the highest
	// status so far: the footer stays below it.
	lines, body int
	last        workflows.Status
	progress    *Progress
	drawn       bool
	trouble     string
	said        string
	load, lag   []float64
}

// NewLive makes a live view that writes to w. Close it, to give the cursor back.
func NewLive(w io.Writer, o Options) *Live {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Size == nil {
		o.Size = func() (int, int) { return 0, 0 }
	}
	return &Live{w: w, o: o}
}

// Show draws a status, and how far the rescale is that is under way, nil when
// there is none or it is not known.
func (l *Live) Show(s workflows.Status, p *Progress) error {
	if !l.drawn || s.Cycle != l.last.Cycle {
		l.remember(s)
	}
	l.drawn, l.last, l.progress = true, s, p
	if l.o.Terminal {
		return l.draw("")
	}
	return l.say(ChangeLine(s, p))
}

// Trouble says that there is no new status, and why; the last one stays.
func (l *Live) Trouble(why string) error {
	if l.o.Terminal {
		return l.draw(why)
	}
	return l.say(Clean(why))
}

// Close leaves the last frame where it is, without the footer, and shows the
// cursor again.
func (l *Live) Close() error {
	if !l.o.Terminal || l.lines == 0 {
		return nil
	}
	if l.o.Footer != nil {
		l.o.Footer, l.body = nil, 0
		if err := l.draw(l.trouble); err != nil {
			return err
		}
	}
	l.lines = 0
	_, err := io.WriteString(l.w, "\x1b[?25h")
	return err
}

// maxPoints bounds what is remembered of the past.
const maxPoints = 200

func (l *Live) remember(s workflows.Status) {
	l.load = push(l.load, Load(s))
	l.lag = push(l.lag, s.Lag)
}

func push(list []float64, r core.Reading) []float64 {
	list = append(list, r.Or(math.NaN()))
	if len(list) > maxPoints {
		list = list[len(list)-maxPoints:]
	}
	return list
}

// draw redraws the frame in place, cut to the size of the terminal: a frame
// that scrolls, or whose lines wrap, can no longer be overwritten.
func (l *Live) draw(trouble string) error {
	l.trouble = trouble
	width, height := l.o.Size()
	if width > 1 {
		width-- // erasing the rest of a line that is full takes its last character
	}
	lines, err := l.status(width, height)
	if err != nil {
		return err
	}
	lines = l.fit(lines, height)
	var screen strings.Builder
	screen.WriteString("\x1b[?25l")
	if l.lines > 0 {
		fmt.Fprintf(&screen, "\x1b[%dA", l.lines)
	}
	for _, line := range lines {
		screen.WriteString("\r" + clipStyled(line, width) + "\x1b[K\n")
	}
	screen.WriteString("\x1b[J")
	l.lines = len(lines)
	_, err = io.WriteString(l.w, screen.String())
	return err
}

// status is the last status, or why there is none.
func (l *Live) status(width, height int) ([]string, error) {
	if !l.drawn {
		return []string{Clean(l.trouble)}, nil
	}
	f := Frame{Now: l.o.Now(), Width: width, Colour: l.o.Colour, Load: l.load, Lag: l.lag, Trouble: l.trouble, Rescale: l.progress}
	const roomy = 20
	if height == 0 || height >= roomy {
		f.NoteLines = 2 // most notes take one line or two; the table below stays where it is
	}
	var b bytes.Buffer
	if err := f.Render(&b, l.last); err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n"), nil
}

// fit cuts a status to the height of the terminal and puts the footer below.
func (l *Live) fit(lines []string, height int) []string {
	if height <= 1 {
		height = math.MaxInt
	}
	room := height - 1 // the cursor stands on a line of its own
	var footer []string
	if l.o.Footer != nil {
		footer = append(footer, "")
		for _, line := range l.o.Footer() {
			footer = append(footer, l.o.Colour.paint(faint, line))
		}
		if room-len(footer) < len(footer) {
			footer = nil // the status matters more
		}
		room -= len(footer)
		l.body = min(max(l.body, len(lines)), room)
	}
	if len(lines) > room {
		lines = append(lines[:room-1], "  …")
	}
	for len(lines) < l.body {
		lines = append(lines, "")
	}
	return append(lines, footer...)
}

// say writes a line when it differs from the one before.
func (l *Live) say(line string) error {
	if line == l.said {
		return nil
	}
	l.said = line
	_, err := fmt.Fprintf(l.w, "%s  %s\n", Clock(l.o.Now()), line)
	return err
}

// ChangeLine is a status in one line, without the numbers that move all the
// time: two that are equal are no change.
func ChangeLine(s workflows.Status, p *Progress) string {
	parts := []string{s.Cluster + "/" + s.Job, string(s.State)}
	if s.Reason != "" && string(s.Reason) != string(s.State) {
		parts = append(parts, string(s.Reason))
	}
	var sizes []string
	for _, v := range s.Vertices {
		sizes = append(sizes, fmt.Sprintf("%s %s", v.Name, sizeCell(v, s.Rescale)))
	}
	if len(sizes) > 0 {
		parts = append(parts, strings.Join(sizes, ", "))
	}
	if p := s.Pause; p != nil {
		parts = append(parts, "paused"+who(p.By, p.Reason))
	}
	if o := s.Override; o != nil {
		parts = append(parts, "override "+overrideSizes(o, s)+who(o.By, o.Reason))
	}
	if text := p.Text(); text != "" {
		parts = append(parts, text)
	}
	if o := s.LastRescale; o != nil {
		parts = append(parts, fmt.Sprintf("last rescale (%d) %s", o.Attempt, o.Kind))
	}
	return Clean(strings.Join(parts, " | "))
}
