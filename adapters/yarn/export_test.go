package yarn

import (
	"context"
	"time"

	"flinkscaler/core"
)

// Impatient is c without what it remembers for some seconds, and with the direct way
// tried again after d.
func (c *Cluster) Impatient(d time.Duration) *Cluster {
	c.shareFor, c.directAgain = 0, d
	return c
}

// Remembering is c with what it knows of applications good for d.
func (c *Cluster) Remembering(d time.Duration) { c.shareFor = d }

// CancelForTest asks Flink to cancel a job: a request that no web proxy carries.
func (c *Cluster) CancelForTest(ctx context.Context, job core.JobRef) error {
	p, err := c.open(ctx, job)
	if err != nil {
		return err
	}
	return p.flink.Cancel(ctx, job)
}

// IsList is true for a well-formed list of applications, of none too.
func IsList(b []byte) bool {
	_, err := decodeApplications(b)
	return err == nil
}

// SaysGone is true for words of a ResourceManager by which an application is over or
// unknown.
func SaysGone(status int, b []byte) bool {
	if status/100 == 2 {
		app, err := decodeApplication(b)
		return err == nil && app.State.ended()
	}
	said, ok := remoteOf(answer{kind: "application/json", body: b})
	return ok && status == 404 && said.Exception == "NotFoundException"
}

// Known counts the applications that are remembered.
func (c *Cluster) Known() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.routes)
}
