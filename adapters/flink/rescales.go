package flink

import (
	"context"
	"errors"
	"time"

	"flinkscaler/core"
)

// Rescale is one entry of Flink's own history of rescales. The words are
// Flink's and still change from version to version.
type Rescale struct {
	ID string
	// Cause is such as "UPDATE_REQUIREMENT", State such as "COMPLETED", End
	// such as "SUCCEEDED". State and End are empty while it is under way.
	Cause, State, End string
	StartedAt         time.Time
	EndedAt           time.Time
}

// Rescales reads Flink's history of rescales of a job, newest first. It exists
// since Flink 2.3, with the adaptive scheduler and
// web.adaptive-scheduler.rescale-history.size above 0: false where it does
// not, which is no error.
func (c *Cluster) Rescales(ctx context.Context, job core.JobRef) ([]Rescale, bool, error) {
	out, err := fetch(ctx, c, request{op: "read rescales", subject: job.ID, path: jobPath(job.ID, "/rescales/history")}, decodeRescales)
	if errors.Is(err, errNoSuchPath) {
		return nil, false, nil
	}
	return out, err == nil, err
}

// RescaleTimings are the scheduler's effective waiting times.
type RescaleTimings struct {
	// Cooldown is the pause after a rescale.
	Cooldown time.Duration
	// Stabilization is how long fewer slots than wanted are put up with before
	// the job runs with those.
	Stabilization time.Duration
	// MaxDelay is how long a rescale waits for a checkpoint.
	MaxDelay time.Duration
	// ResourceWait is how long a restarted job waits for slots before it fails.
	ResourceWait time.Duration
	// Settle is how long a restarted job waits for more slots than it has.
	Settle time.Duration
}

// RescaleTimings reads the scheduler's effective waiting times: the only place
// where Flink shows defaults. False where Rescales is.
func (c *Cluster) RescaleTimings(ctx context.Context, job core.JobRef) (RescaleTimings, bool, error) {
	out, err := fetch(ctx, c, request{op: "read rescale timings", subject: job.ID, path: jobPath(job.ID, "/rescales/config")}, decodeTimings)
	if errors.Is(err, errNoSuchPath) {
		return RescaleTimings{}, false, nil
	}
	return out, err == nil, err
}

func decodeRescales(b []byte) ([]Rescale, error) {
	body, err := fromJSON[*[]struct {
		ID    string `json:"rescaleUuid"`
		Cause string `json:"triggerCause"`
		State string `json:"terminalState"`
		End   string `json:"terminatedReason"`
		Began int64  `json:"startTimestampInMillis"`
		Ended int64  `json:"endTimestampInMillis"`
	}](b)
	if err != nil {
		return nil, err
	}
	if body == nil {
		return nil, errors.New("a list of rescales expected")
	}
	out := make([]Rescale, 0, len(*body))
	for _, e := range *body {
		out = append(out, Rescale{ID: e.ID, Cause: e.Cause, State: e.State, End: e.End, StartedAt: millis(e.Began), EndedAt: millis(e.Ended)})
	}
	return out, nil
}

func decodeTimings(b []byte) (RescaleTimings, error) {
	body, err := fromJSON[struct {
		Cooldown      *number `json:"executingCooldownTimeoutInMillis"`
		Stabilization number  `json:"executingResourceStabilizationTimeoutInMillis"`
		MaxDelay      number  `json:"maximumDelayForTriggeringRescaleInMillis"`
		ResourceWait  number  `json:"submissionResourceWaitTimeoutInMillis"`
		Settle        number  `json:"submissionResourceStabilizationTimeoutInMillis"`
	}](b)
	if err != nil {
		return RescaleTimings{}, err
	}
	if body.Cooldown == nil {
		return RescaleTimings{}, errors.New(`no "executingCooldownTimeoutInMillis" in the answer`)
	}
	return RescaleTimings{
		Cooldown: body.Cooldown.millis(), Stabilization: body.Stabilization.millis(),
		MaxDelay: body.MaxDelay.millis(), ResourceWait: body.ResourceWait.millis(), Settle: body.Settle.millis(),
	}, nil
}

// millis gives a number of ms as a duration, 0 when there is none.
func (n number) millis() time.Duration {
	v, ok := n.reading().Value()
	if !ok || v < 0 {
		return 0
	}
	return time.Duration(min(v, float64(365*24*time.Hour/time.Millisecond))) * time.Millisecond
}
