package eventlog

import (
	"context"

	"github.com/hashicorp/go-hclog"

	"flinkscaler/core"
	"flinkscaler/internal/logging"
)

// Sink writes events to a log.
type Sink struct{ log hclog.Logger }

// New makes a sink of a logger.
func New(log hclog.Logger) *Sink { return &Sink{log: log.Named("events")} }

// Send writes the events. It cannot fail.
func (s *Sink) Send(_ context.Context, key core.JobKey, _ core.Target, events []core.Event) error {
	for _, e := range events {
		level := hclog.Info
		if e.Warning {
			level = hclog.Warn
		}
		s.log.Log(level, "event of a job", logging.KeyJob, key.String(), logging.KeyEvent, e.Reason, logging.KeyDecision, e.DecisionID, logging.KeyNote, e.Message)
	}
	return nil
}
