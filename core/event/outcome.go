package event

import (
	"fmt"
	"strings"

	"flinkscaler/core"
)

// OfOutcome gives what people should hear of a rescale that ended: an alarm where
// the job was not well after it, nothing else. It is to be sent once per rescale;
// its key is that of the decision and the attempt, so that a place that knows
// keys shows one that comes twice once.
func OfOutcome(o core.Outcome) []core.Event {
	if !o.Alarm() {
		return nil
	}
	reason := RescaleUndone
	if o.Kind == core.Failed {
		reason = RescaleFailed
	}
	return []core.Event{{
		Kind: core.EventOutcome, Reason: reason, Warning: true, DecisionID: o.DecisionID, At: o.EndedAt,
		Key:     fmt.Sprintf("%s/%s/%d", reason, o.DecisionID, o.Attempt),
		Message: outcomeMessage(o),
	}}
}

func outcomeMessage(o core.Outcome) string {
	cause := string(o.Cause)
	if cause == "" {
		cause = "rescale"
	}
	text := fmt.Sprintf("%s ended as %s%s%s%s", cause, o.Kind, after(" (", string(o.Reason)), closing(o.Reason), after("; ", sizes(o)))
	return text + after("; ", o.Note) + after("; ", advice(o.Reason))
}

func closing(r core.Reason) string {
	if r == "" {
		return ""
	}
	return ")"
}

// sizes lists the vertices that were to change: before, wanted, and now where
// that is something else.
func sizes(o core.Outcome) string {
	var out []string
	more := 0
	for _, w := range o.Wanted {
		from, ok := core.FindSize(o.From, w.ID)
		if !ok || from == w.Parallelism {
			continue
		}
		if len(out) == maxPerVertex {
			more++
			continue
		}
		text := fmt.Sprintf("vertex %s: %d -> %d", w.ID, from, w.Parallelism)
		if got, ok := core.FindSize(o.Got, w.ID); ok && got != w.Parallelism {
			text += fmt.Sprintf(", runs at %d", got)
		}
		out = append(out, text)
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, ", ")
}
