package k8s

import (
	"context"
	"fmt"

	"flinkscaler/core"
)

// inPlace has the Apache operator change an adaptive job in place: the overrides
// key alone is written, and the operator tells Flink. Lower bounds are the
// operator's: it sets them to the size up to 1.7 and keeps them from 1.8 on.
type inPlace struct{ wish }

func (inPlace) means() core.Means { return core.Means{Method: "operator-in-place"} }

// wanted is what Flink was told, and what the operator will tell it.
func (m inPlace) wanted(ctx context.Context) (core.Requirements, error) {
	held, err := m.flink.Wanted(ctx, m.job)
	if err != nil {
		return nil, notYet(err)
	}
	for i, b := range held {
		if n, ok := m.pending(b.ID); ok {
			b.Upper = n
		}
		held[i] = core.Bounds{ID: b.ID, Lower: 1, Upper: b.Upper}
	}
	return held, nil
}

func (m inPlace) want(ctx context.Context, decision string, r core.Requirements) error {
	held, err := m.flink.Wanted(ctx, m.job)
	if err != nil {
		return notYet(err)
	}
	status, err := m.flink.Status(ctx, m.job)
	if err != nil {
		return err
	}
	if err := m.check(r, held, status.Topology); err != nil {
		return err
	}
	next := m.next(r, held)
	if m.is(next, r) {
		return m.remind(ctx, decision, r, held)
	}
	if err := m.ready(m.restores(next, r)); err != nil {
		return err
	}
	return m.write(ctx, decision, next)
}

// remind tells Flink itself what the object asks for already: somebody else told
// it something since, and the operator does not look again.
func (m inPlace) remind(ctx context.Context, decision string, r, held core.Requirements) error {
	bounds := make(core.Requirements, len(held))
	same := true
	for i, b := range held {
		bounds[i] = core.Bounds{ID: b.ID, Lower: min(b.Lower, r[i].Upper), Upper: r[i].Upper}
		same = same && b.Upper == r[i].Upper
	}
	if same || !m.upToDate() {
		return nil
	}
	if err := m.ready(false); err != nil {
		return err
	}
	if err := m.flink.Want(ctx, m.job, decision, bounds); err != nil {
		return fmt.Errorf("tell Flink what the object asks for: %w", err)
	}
	return nil
}
