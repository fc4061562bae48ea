package activities

import (
	"context"
	"slices"

	"flinkscaler/core"
	"flinkscaler/core/event"
	"flinkscaler/core/policy"
)

// Report sends events of a job. It is a normal activity: a sink that is slow or
// fails is tried again by itself, while the job is managed as ever.
func (a *Activities) Report(ctx context.Context, in ReportInput) error {
	events := in.Events
	if in.Outcome != nil {
		events = append(slices.Clone(events), event.OfOutcome(*in.Outcome)...)
	}
	if a.s.Sink == nil || len(events) == 0 {
		return nil
	}
	return toTemporal(a.s.Sink.Send(ctx, in.Key, in.Target, events))
}

// due gives the events of a decision that are to be sent, and what to remember
// of them. Nothing is remembered as told where nobody listens.
func (a *Activities) due(d core.Decision, h core.Health, in core.JobContext, p policy.Policy) ([]core.Event, []core.Told) {
	if a.s.Sink == nil {
		return nil, in.Memory.Told
	}
	return event.Due(event.Of(d, h, in.Topology), in.Memory.Told, in.Now, p.EventInterval)
}
