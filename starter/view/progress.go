package view

import (
	"fmt"
	"time"

	"flinkscaler/workflows"
)

// Progress is how far a rescale is: what its workflow says, and what it last
// saw of Flink, nil when it does not wait or has not looked yet.
type Progress struct {
	workflows.RescaleProgress

	Beat *workflows.RescaleBeat `json:"flink,omitempty"`
}

// Text says it in one line, without what moves all the time.
func (p *Progress) Text() string {
	if p == nil || p.Phase == "" {
		return ""
	}
	text := p.Phase
	if b := p.Beat; b != nil {
		text += fmt.Sprintf("; %d of %d vertices run as wanted", b.Reached, b.Total)
		if s := b.Slots; s != nil {
			text += fmt.Sprintf(", %d of %d slots free", s.Free, s.Total)
		}
		switch n := len(b.Restarts); n {
		case 0:
		case 1:
			text += ", restarted once"
		default:
			text += fmt.Sprintf(", restarted %d times", n)
		}
	}
	return text
}

// patience is how long it is waited for, at the longest.
func (p *Progress) patience(now time.Time) string {
	if p == nil || p.Deadline.IsZero() {
		return ""
	}
	text := fmt.Sprintf("; at the latest until %s, in %s", Clock(p.Deadline), Duration(max(0, p.Deadline.Sub(now)).Truncate(time.Second)))
	if p.DeadlineWhy != "" {
		text += " (" + p.DeadlineWhy + ")"
	}
	return text
}
