package yarn

import (
	"context"
	"time"

	"flinkscaler/adapters/kerberos"
	"flinkscaler/core"
)

// Hurry makes the steps of submissions short.
func (c *Cluster) Hurry() *Cluster {
	c.deploys.times = pace{
		look: 10 * time.Millisecond, visible: 150 * time.Millisecond, overdue: 200 * time.Millisecond, dies: 5 * time.Second, settles: 500 * time.Millisecond, last: time.Second,
	}
	return c
}

// Telling is what one line says of the output of Flink's command.
func Telling(output string) string { return telling(output) }

// TagsFor are the tags of a new application.
func TagsFor(before, jobID string) string { return tagsFor(before, jobID) }

// Staging is where submissions are staged.
func (r Redeploy) Staging() string { return r.staging() }

// Left are the processes of a submission.
func Left(jobID string) int { return len(marksOf(jobID)) }

// ByHand is how a person starts the job of an application that is stopped.
func ByHand(app Shown, session bool, flinkVersion string) core.ByHand {
	p := &place{app: application{ID: app.ID, Name: app.Name, Queue: app.Queue, Tags: app.Tags, Type: app.Type}}
	if session {
		p.target.JobName = "orders"
	}
	return byHand(p, flinkVersion)
}

// Shown is what the ResourceManager shows of an application.
type Shown struct{ ID, Name, Queue, Tags, Type string }

// Configured are the options in a folder of the configuration of Flink 1 or 2.
func Configured(dir string, major int) (map[string]string, error) {
	return configured(dir, release{major: major})
}

// Knows has the KDC and the ResourceManager say who logs in.
func (c *Cluster) Knows(user string, err error) *Cluster {
	c.deploys.whoIs = func(context.Context, *kerberos.Login) (string, error) { return user, err }
	return c
}

// User is the name that the ResourceManager has for who asks it.
func (c *Cluster) User(ctx context.Context) (string, error) { return c.user(ctx) }
