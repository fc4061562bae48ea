package strategy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"flinkscaler/core"
	"flinkscaler/core/event"
)

// events is what is sent while a case is played; without counts nobody asked.
type events struct {
	// told puts each into the timeline.
	told   bool
	counts map[string]int
}

// announce sends what is due of a decision, as an activity does after it.
func (s *scene) announce(d core.Decision) {
	if s.events.counts == nil {
		return
	}
	all := event.Of(d, core.HealthOf(s.ctx, d), s.ctx.Topology)
	due, told := event.Due(all, s.ctx.Memory.Told, s.now, s.policy.EventInterval)
	s.ctx.Memory.Told = told
	for _, e := range due {
		s.events.counts[e.Reason]++
		if s.events.told {
			s.write(fmt.Sprintf("event %s: %s", e.Reason, e.Message))
		}
	}
}

// summary counts the events.
func (e events) summary() string {
	if e.counts == nil {
		return ""
	}
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(e.counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", e.counts[reason], reason))
	}
	if len(parts) == 0 {
		parts = []string{"none"}
	}
	return "events: " + strings.Join(parts, ", ") + "\n"
}
