package view

import (
	"strings"

	"flinkscaler/core"
	"flinkscaler/workflows"
)

// Palette colours text, or leaves it as it is.
type Palette bool

const (
	bold   = "1"
	faint  = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func (p Palette) paint(code, text string) string {
	if !p || code == "" || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bold marks what matters most.
func (p Palette) Bold(text string) string { return p.paint(bold, text) }

// State colours a text by the state of a job's management.
func (p Palette) State(h workflows.Health, text string) string {
	return p.paint(stateColour(h), text)
}

func stateColour(h workflows.Health) string {
	switch h {
	case workflows.Watching:
		return green
	case workflows.Rescaling:
		return cyan
	case workflows.Paused, workflows.Starting, workflows.Awaiting:
		return yellow
	case workflows.Blocked, workflows.JobGone:
		return red
	}
	return ""
}

// load colours a share of busy time: red where there is next to no room.
func (p Palette) load(r core.Reading, text string) string {
	const (
		full = 0.95
		high = 0.8
	)
	v, ok := r.Value()
	switch {
	case !ok:
		return text
	case v >= full:
		return p.paint(red, text)
	case v >= high:
		return p.paint(yellow, text)
	}
	return text
}

// clipStyled cuts a line to at most width characters on the screen, 0 for no
// limit; our own colours take no room and are ended.
func clipStyled(line string, width int) string {
	if width <= 0 {
		return line
	}
	var b strings.Builder
	seen, coloured, escape := 0, false, false
	for _, r := range line {
		switch {
		case r == '\x1b':
			escape, coloured = true, true
		case escape:
			escape = r != 'm'
		case seen == width:
			if coloured {
				b.WriteString("\x1b[0m")
			}
			return b.String()
		default:
			seen++
		}
		b.WriteRune(r)
	}
	return b.String()
}
