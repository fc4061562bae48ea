package flink

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"flinkscaler/core"
)

// maxNote bounds the text of a failure: history keeps it.
const maxNote = 300

// someExceptions is enough to find the newest and to see a row of them; stack
// traces are long.
const someExceptions = "/exceptions?maxExceptions=6"

// Inspect reads checkpoints and failures.
func (c *Cluster) Inspect(ctx context.Context, job core.JobRef) (core.JobHealth, error) {
	var health core.JobHealth
	read := func(op, path string, decode func([]byte, *core.JobHealth) error) error {
		_, err := fetch(ctx, c, request{op: op, subject: job.ID, path: jobPath(job.ID, path)}, func(b []byte) (struct{}, error) {
			return struct{}{}, decode(b, &health)
		})
		return err
	}
	err := read("read checkpoint settings", "/checkpoints/config", decodeCheckpointing)
	if err == nil && health.Checkpointing {
		err = read("read checkpoints", "/checkpoints", decodeCheckpoints)
	}
	if errors.Is(err, errNoCheckpoints) {
		health, err = core.JobHealth{}, nil
	}
	if err == nil {
		err = read("read failures", someExceptions, decodeExceptions)
	}
	if err != nil {
		return core.JobHealth{}, err
	}
	return health, nil
}

// decodeCheckpointing reads the settings. An interval of Long.MAX_VALUE is how
// Flink spells that checkpoints are only taken on demand.
func decodeCheckpointing(b []byte, h *core.JobHealth) error {
	body, err := fromJSON[struct {
		Interval *int64 `json:"interval"`
	}](b)
	if err != nil {
		return err
	}
	if body.Interval == nil {
		return errors.New(`no "interval" in the answer`)
	}
	if *body.Interval > 0 && *body.Interval < math.MaxInt64/int64(time.Millisecond) {
		h.Checkpointing = true
		h.Interval = time.Duration(*body.Interval) * time.Millisecond
	}
	return nil
}

type checkpointBody struct {
	Status    string `json:"status"`
	Savepoint bool   `json:"is_savepoint"`
	Triggered int64  `json:"trigger_timestamp"`
	Failed    int64  `json:"failure_timestamp"`
	Message   string `json:"failure_message"`
	StateSize *int64 `json:"state_size"`
	Path      string `json:"external_path"`
}

func decodeCheckpoints(b []byte, h *core.JobHealth) error {
	body, err := fromJSON[struct {
		Counts *struct {
			Completed int `json:"completed"`
		} `json:"counts"`
		Latest struct {
			Completed *checkpointBody `json:"completed"`
			Failed    *checkpointBody `json:"failed"`
			Restored  *checkpointBody `json:"restored"`
		} `json:"latest"`
		History []checkpointBody `json:"history"`
	}](b)
	if err != nil {
		return err
	}
	if body.Counts == nil {
		return errors.New(`no "counts" in the answer`)
	}
	if last := body.Latest.Completed; last != nil {
		h.LastCompleted, h.CompletedPath = millis(last.Triggered), last.Path
		if size := last.StateSize; size != nil && *size >= 0 {
			h.StateSize = core.Read(float64(*size))
		}
	}
	h.Completed = body.Counts.Completed
	if last := body.Latest.Restored; last != nil {
		h.RestoredPath = last.Path
	}
	if last := body.Latest.Failed; last != nil {
		h.LastFailed = millis(last.Triggered)
		if last.Message != "" {
			h.FailureNote = cut(firstWords(last.Message), maxNote)
		}
	}
	h.SavepointInProgress = slices.ContainsFunc(body.History, func(c checkpointBody) bool {
		return c.Savepoint && c.Status == "IN_PROGRESS"
	})
	return nil
}

type failureBody struct {
	Name  string `json:"exceptionName"`
	Trace string `json:"stacktrace"`
	At    int64  `json:"timestamp"`
}

// decodeExceptions finds the newest failure. Flink 1.x gives it twice, in the
// history and at the top.
func decodeExceptions(b []byte, h *core.JobHealth) error {
	body, err := fromJSON[struct {
		Root    string `json:"root-exception"`
		At      int64  `json:"timestamp"`
		History *struct {
			Entries []failureBody `json:"entries"`
		} `json:"exceptionHistory"`
	}](b)
	if err != nil {
		return err
	}
	if body.History == nil {
		return errors.New(`no "exceptionHistory" in the answer`)
	}
	newest := failureBody{Trace: body.Root, At: body.At}
	for _, e := range body.History.Entries {
		if e.At >= newest.At {
			newest = e
		}
		if e.At > 0 {
			h.Errors = append(h.Errors, millis(e.At))
		}
	}
	slices.SortFunc(h.Errors, func(a, b time.Time) int { return b.Compare(a) })
	if newest.At <= 0 {
		return nil
	}
	h.LastError = millis(newest.At)
	text := newest.Trace
	if text == "" {
		text = newest.Name
	}
	h.LastErrorNote = cut(firstWords(text), maxNote)
	return nil
}
