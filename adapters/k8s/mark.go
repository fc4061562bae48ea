package k8s

import (
	"context"

	"flinkscaler/core"
)

// Mark gives the id of the decision that wrote last, as the job's object shows
// it. It is empty when nothing was ever written, and when the mark was wiped: a
// tool that replaces the whole object takes the mark, the value and the owner of
// the field with it, so that nobody is left to name. Whoever wrote a decision and
// reads another mark knows that it was reverted.
func (c *Cluster) Mark(ctx context.Context, job core.JobRef) (decision string, err error) {
	v, err := c.open(ctx, job)
	if err != nil {
		return "", err
	}
	return v.object.GetAnnotations()[AnnotationDecision], nil
}
