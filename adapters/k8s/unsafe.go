package k8s

import (
	"context"

	"flinkscaler/core"
)

// unsafe is an object whose size cannot be changed safely.
type unsafe struct {
	// why says so, and what the user can do about it.
	why string
}

func (m unsafe) means() core.Means { return core.Means{Method: "none", Refused: m.why} }

func (m unsafe) refuse() error {
	return &core.OpError{Op: "change size", Hint: m.why, Err: core.ErrRefused}
}

func (m unsafe) wanted(context.Context) (core.Requirements, error) { return nil, m.refuse() }

func (m unsafe) want(context.Context, string, core.Requirements) error { return m.refuse() }

func (m unsafe) carried(context.Context, core.Requirements) (core.Carried, error) {
	return core.Carried{}, m.refuse()
}
