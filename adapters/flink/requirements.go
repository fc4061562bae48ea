package flink

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"flinkscaler/core"
)

// Wanted reads the requirements in force: every vertex, sorted by id.
func (c *Cluster) Wanted(ctx context.Context, job core.JobRef) (core.Requirements, error) {
	r := request{op: "read resource requirements", subject: job.ID, path: jobPath(job.ID, "/resource-requirements")}
	return fetch(ctx, c, r, decodeRequirements)
}

// Want sets the requirements. The list is checked first against those in
// force: a lower bound above the present one is refused here, because Flink
// takes it and ends the job at the next failure that leaves too few slots
// (I7). Then it is sent once.
func (c *Cluster) Want(ctx context.Context, job core.JobRef, _ string, wanted core.Requirements) error {
	r := request{op: "set resource requirements", subject: job.ID, path: jobPath(job.ID, "/resource-requirements")}
	body, err := encodeRequirements(wanted)
	if err != nil {
		return &core.OpError{Op: r.op, Subject: r.subject, Err: err}
	}
	present, err := c.Wanted(ctx, job)
	if err != nil {
		return err
	}
	if err := neverRaised(present, wanted); err != nil {
		return &core.OpError{Op: r.op, Subject: r.subject, Hint: "a raised lower bound can end a job for good", Err: err}
	}
	r.method, r.body = http.MethodPut, body
	_, err = fetch(ctx, c, r, decodeTaken)
	return err
}

// neverRaised is the guard of I7. Vertices that the job does not have are left
// for Flink to refuse in its words.
func neverRaised(present, wanted core.Requirements) error {
	for _, w := range wanted {
		i := slices.IndexFunc(present, func(b core.Bounds) bool { return b.ID == w.ID })
		if i >= 0 && w.Lower > present[i].Lower {
			return fmt.Errorf("%w: the lower bound of vertex %s would rise from %d to %d", core.ErrRefused, w.ID, present[i].Lower, w.Lower)
		}
	}
	return nil
}

type boundsBody struct {
	Parallelism struct {
		Lower int `json:"lowerBound"`
		Upper int `json:"upperBound"`
	} `json:"parallelism"`
}

func encodeRequirements(wanted core.Requirements) ([]byte, error) {
	body := make(map[string]boundsBody, len(wanted))
	for _, w := range wanted {
		if _, twice := body[w.ID]; twice {
			return nil, fmt.Errorf("%w: vertex %s is listed twice", core.ErrRefused, w.ID)
		}
		var b boundsBody
		b.Parallelism.Lower, b.Parallelism.Upper = w.Lower, w.Upper
		body[w.ID] = b
	}
	return json.Marshal(body)
}

func decodeRequirements(b []byte) (core.Requirements, error) {
	body, err := fromJSON[map[string]*boundsBody](b)
	if err != nil {
		return nil, err
	}
	out := make(core.Requirements, 0, len(body))
	for id, bounds := range body {
		if id == "" || bounds == nil || bounds.Parallelism.Lower < 1 || bounds.Parallelism.Upper < bounds.Parallelism.Lower {
			return nil, errors.New("a vertex without usable bounds")
		}
		out = append(out, core.Bounds{ID: id, Lower: bounds.Parallelism.Lower, Upper: bounds.Parallelism.Upper})
	}
	if len(out) == 0 {
		return nil, errors.New("no vertices in the answer")
	}
	slices.SortFunc(out, func(a, b core.Bounds) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// decodeTaken accepts Flink's "{}" alone: anything else did not come from the
// code that takes requirements.
func decodeTaken(b []byte) (struct{}, error) {
	if strings.TrimSpace(string(b)) != "{}" {
		return struct{}{}, errors.New(`"{}" expected`)
	}
	return struct{}{}, nil
}
