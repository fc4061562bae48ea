package yarn

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"flinkscaler/adapters/flink"
	"flinkscaler/adapters/flink/shared"
	"flinkscaler/core"
)

// route is the way to the Flink of one application. It outlives attempts of the
// application and answers of the ResourceManager that do not show where it is.
type route struct {
	cluster *Cluster
	id      string
	flink   *flink.Cluster
	// resolved is what the ResourceManager said when a request failed.
	resolved shared.Answer[application]

	mu sync.Mutex // guards the following
	// app is how the application was seen last, asked for at; address the last one that
	// YARN showed, empty for never.
	app     application
	at      time.Time
	address string
	// met is true once something answered at the address.
	met bool
	// closed is when the address was last found not to be reachable from here while the
	// web proxy was.
	closed time.Time
	// jobs are those that were seen there, by id and start: they tell the Flink that was
	// there from another one that took its address.
	jobs map[string]time.Time
	// used is when somebody last asked for the route.
	used time.Time
}

// maxRoutes bounds what is remembered; far more jobs than one worker looks at. Routes
// that nobody used for a day go first.
const (
	maxRoutes  = 16384
	routeStays = 24 * time.Hour
)

// routeTo gives the route of an application that was seen, asked for at.
func (c *Cluster) routeTo(app application, at time.Time) (*route, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.routes[app.ID]
	if !ok {
		r = &route{cluster: c, id: app.ID}
		cfg := c.cfg.Flink
		cfg.URLs, cfg.Transport, cfg.Redeploy = []string{c.scheme() + "://" + app.ID}, r, c.cfg.Redeploy.session()
		var err error
		if r.flink, err = flink.New(cfg); err != nil {
			return nil, &core.OpError{Op: "reach Flink", Subject: app.ID, Err: fmt.Errorf("%w: %w", core.ErrUnreachable, err)}
		}
		c.drop()
		c.routes[app.ID] = r
	}
	r.learn(app, at)
	return r, nil
}

func (c *Cluster) scheme() string {
	if c.cfg.FlinkTLS {
		return "https"
	}
	return "http"
}

// drop forgets routes where there are too many. c.mu is held.
func (c *Cluster) drop() {
	if len(c.routes) < maxRoutes {
		return
	}
	for id, r := range c.routes {
		if r.idle(time.Now()) > routeStays {
			delete(c.routes, id)
		}
	}
	for target, id := range c.last {
		if c.routes[id] == nil {
			delete(c.last, target)
		}
	}
}

func (r *route) idle(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return now.Sub(r.used)
}

// known gives the route of an application that was met before, nil for none.
func (c *Cluster) known(id string) *route {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.routes[id]
}

// learn keeps how an application was seen, where a route to it is known.
func (c *Cluster) learn(app application, at time.Time) {
	if r := c.known(app.ID); r != nil {
		r.learn(app, at)
	}
}

// found and lastOf keep which application a target was.
func (c *Cluster) found(t core.YarnTarget, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last[t] = id
}

func (c *Cluster) lastOf(t core.YarnTarget) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last[t]
}

// learn keeps how the application was seen, unless something newer is known.
func (r *route) learn(app application, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.at.IsZero() && at.Before(r.at) {
		return
	}
	r.app, r.at = app, at
	if a := app.address(); a != "" && a != r.address {
		r.address, r.met, r.closed = a, false, time.Time{}
	}
}

// forgotten keeps that the ResourceManager does not know the application, or no more.
func (r *route) forgotten() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.app.State, r.app.Diagnostics = stateUnknown, ""
	r.at = time.Now()
}

// seen gives what is known, and counts as use.
func (r *route) seen() (app application, at time.Time, address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used = time.Now()
	return r.app, r.at, r.address
}

// again asks the ResourceManager for the application. Requests that fail at the same
// time ask once.
func (r *route) again(ctx context.Context) (application, error) {
	return r.resolved.Get(ctx, time.Second, func(ctx context.Context) (application, error) {
		return r.cluster.application(ctx, r.id)
	})
}

// saw keeps which live jobs were seen.
func (r *route) saw(jobs []flink.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.jobs = make(map[string]time.Time, len(jobs))
	for _, j := range jobs {
		r.jobs[j.ID] = j.StartedAt
	}
}

// proves is true where one of these jobs was seen there before.
func (r *route) proves(jobs []flink.Job) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(jobs, func(j flink.Job) bool {
		started, ok := r.jobs[j.ID]
		return ok && started.Equal(j.StartedAt)
	})
}

// reached keeps that something answered at an address.
func (r *route) reached(address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if address == r.address {
		r.met, r.closed = true, time.Time{}
	}
}

// close keeps that an address is not reachable from here, though the proxy is.
func (r *route) close(address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if address == r.address {
		r.closed = time.Now()
	}
}

// directAgain is how long the web proxy alone is used before an address that was not
// reachable is tried again.
const directAgain = time.Minute

// blocked is true while the address is known not to be reachable from here.
func (r *route) blocked() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Since(r.closed) < r.cluster.directAgain
}

// wasMet is true where something has answered at the address.
func (r *route) wasMet() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.met
}

var _ http.RoundTripper = (*route)(nil)
