//go:build e2e && record

package yarn_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"flinkscaler/e2e/hadoop"
	"flinkscaler/internal/flinklocal"
	"flinkscaler/internal/toolcache"
)

// TestRecord makes testdata/<version> anew:
//
//	HADOOP_VERSIONS="3.4.2 3.3.6 3.5.0" go test -tags e2e,record -run TestRecord -timeout 40m ./adapters/yarn
func TestRecord(t *testing.T) {
	versions := strings.Fields(os.Getenv("HADOOP_VERSIONS"))
	if len(versions) == 0 {
		versions = []string{toolcache.Hadoop}
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			into := filepath.Join("testdata", version)
			recorded(t, os.MkdirAll(into, 0o755))
			t.Run("capacity", func(t *testing.T) { recordCapacity(t, version, into) })
			t.Run("fair", func(t *testing.T) { recordFair(t, version, into) })
		})
	}
}

// shapes records a cluster with two ResourceManagers that has room for a JobManager and two TaskManagers.
type shapes struct {
	*recorder
	flink           *hadoop.Flink
	rates           *flinklocal.RateFile
	active, standby *hadoop.ResourceManager
}

// api is the base of the active ResourceManager's REST API.
func (p *shapes) api() string { return p.active.URL() + "/ws/v1/cluster" }

func recordCapacity(t *testing.T, version, into string) {
	p := newShapes(t, hadoop.Options{Version: version, YARN: true, ResourceManagerHA: true, NodeMemory: 3300, Log: os.Stderr}, into)
	p.idle()
	waiting := p.accepted()
	orders := p.running()
	p.killed(waiting) // what it waits for is kept from other queues
	p.wanting(orders)
	p.finished(orders)
	p.failed()
	p.unhealthy()
	p.get("apps-many", p.api()+"/apps")
	p.get("apps-many-over", p.api()+"/apps?states=FINISHED,FAILED,KILLED")
	p.outage()
}

func newShapes(t *testing.T, o hadoop.Options, into string) *shapes {
	c, err := hadoop.Start(t.Context(), o)
	recorded(t, err)
	t.Cleanup(func() { recorded(t, c.Close()) })
	p := &shapes{recorder: newRecorder(t, c, into)}
	p.active, err = c.Active(t.Context())
	recorded(t, err)
	for _, rm := range c.ResourceManagers() {
		if rm != p.active {
			p.standby = rm
		}
	}
	p.rates, err = flinklocal.NewRateFile(filepath.Join(t.TempDir(), "rates"))
	recorded(t, err)
	recorded(t, p.rates.Set(100))
	p.flink, err = c.Flink(t.Context(), hadoop.FlinkOptions{})
	recorded(t, err)
	return p
}

func (p *shapes) job(name string) hadoop.Application {
	return hadoop.Application{Name: name, Tags: []string{"Team-A", "fa-" + name}, Args: hadoop.JobArgs(p.rates)}
}

// idle records what there is without any application.
func (p *shapes) idle() {
	p.get("info-active", p.api()+"/info")
	p.get("info-standby", p.standby.URL()+"/ws/v1/cluster/info")
	p.get("standby-apps", p.standby.URL()+"/ws/v1/cluster/apps")
	p.get("standby-apps-query", p.standby.URL()+"/ws/v1/cluster/apps?applicationTypes=Apache%20Flink&states=RUNNING")
	p.send("standby-put", call{method: http.MethodPut, url: p.standby.URL() + "/ws/v1/cluster/apps/application_1_0001/state", body: `{"state":"KILLED"}`})
	p.get("standby-proxy", p.standby.URL()+"/proxy/application_1_0001/jobs")
	p.get("apps-none", p.api()+"/apps")
	p.get("metrics-idle", p.api()+"/metrics")
	p.get("scheduler-capacity-idle", p.api()+"/scheduler")
	p.get("nodes", p.api()+"/nodes")
	started := p.started()
	p.get("app-unknown", fmt.Sprintf("%s/apps/application_%d_9999", p.api(), started))
	p.get("appattempts-unknown", fmt.Sprintf("%s/apps/application_%d_9999/appattempts", p.api(), started))
	p.get("app-malformed", p.api()+"/apps/nonsense")
	p.get("apps-unknown-state", p.api()+"/apps?states=NONSENSE")
	p.get("no-such-path", p.api()+"/nonsense")
	p.send("accept-html", call{method: http.MethodGet, url: p.api() + "/info", accept: "text/html"})
	p.get("proxy-unknown", fmt.Sprintf("%s/proxy/application_%d_9999/jobs", p.active.URL(), started))
	p.get("proxy-malformed", p.active.URL()+"/proxy/nonsense/jobs")
}

// started is the number that all applications of the active ResourceManager carry.
func (p *shapes) started() int64 {
	var info struct{ ClusterInfo struct{ StartedOn, ID int64 } }
	recorded(p.t, p.cluster.REST(p.t.Context(), "/info", &info))
	return info.ClusterInfo.ID
}

// accepted records an application that its queue has no room for: its command would wait for ever.
func (p *shapes) accepted() *hadoop.App {
	a := p.job("waiting")
	a.Queue, a.Options = "small", map[string]string{"jobmanager.memory.process.size": "1500m"}
	app, err := p.flink.Begin(p.t.Context(), a)
	recorded(p.t, err)
	recorded(p.t, app.WaitState(p.t.Context(), "ACCEPTED"))
	recorded(p.t, app.Wait(p.t.Context(), "told why it waits", func(s hadoop.AppStatus) bool { return s.Diagnostics != "" }))
	recorded(p.t, app.CLI.Kill())
	p.get("app-accepted", p.api()+"/apps/"+app.ID)
	p.get("appattempts-accepted", p.api()+"/apps/"+app.ID+"/appattempts")
	p.get("apps-one", p.api()+"/apps?applicationTags=FA-waiting")
	p.proxy("proxy-accepted", app)
	return app
}

// proxy records a GET and a PUT through the proxy.
func (p *shapes) proxy(name string, app *hadoop.App) {
	base := p.active.URL() + "/proxy/" + app.ID
	p.get(name+"-get", base+"/jobs")
	p.send(name+"-put", call{method: http.MethodPut, url: base + "/jobs/" + strings.Repeat("0", 32) + "/resource-requirements", body: "{}"})
}

// running records an application beside the one that waits.
func (p *shapes) running() *hadoop.App {
	app, err := p.flink.Submit(p.t.Context(), p.job("orders"))
	recorded(p.t, err)
	p.get("app-running", p.api()+"/apps/"+app.ID)
	p.get("appattempts-running", p.api()+"/apps/"+app.ID+"/appattempts")
	p.get("apps-two", p.api()+"/apps?applicationTags=team-a")
	p.get("apps-running", p.api()+"/apps?states=RUNNING&applicationTypes=Apache%20Flink")
	p.get("metrics-running", p.api()+"/metrics")
	p.get("nodes-running", p.api()+"/nodes")
	p.get("scheduler-capacity-running", p.api()+"/scheduler")
	p.thruProxy(app)
	return app
}

// thruProxy records what the proxy lets through, and what not.
func (p *shapes) thruProxy(app *hadoop.App) {
	jobID, err := app.JobID(p.t.Context())
	recorded(p.t, err)
	base := p.active.URL() + "/proxy/" + app.ID + "/jobs"
	p.get("proxy-jobs", base)
	p.get("standby-proxy-jobs", p.standby.URL()+"/proxy/"+app.ID+"/jobs")
	p.get("proxy-job-unknown", base+"/"+strings.Repeat("0", 32))
	p.send("proxy-post", call{method: http.MethodPost, url: base + "/" + jobID + "/savepoints", body: "{}"})
	p.send("proxy-post-html", call{method: http.MethodPost, url: base + "/" + jobID + "/savepoints", body: "{}", accept: "none"})
	p.send("proxy-patch", call{method: http.MethodPatch, url: base + "/" + jobID})
	p.send("proxy-delete", call{method: http.MethodDelete, url: base + "/" + jobID})
	p.send("proxy-put-broken", call{method: http.MethodPut, url: base + "/" + jobID + "/resource-requirements", body: "{"})
}

// wanting asks for three TaskManagers where there is room for two.
func (p *shapes) wanting(app *hadoop.App) {
	ctx := p.t.Context()
	jobID, err := app.JobID(ctx)
	recorded(p.t, err)
	var wanted map[string]any
	recorded(p.t, app.Get(ctx, "/jobs/"+jobID+"/resource-requirements", &wanted))
	var parts []string
	for id := range wanted {
		parts = append(parts, fmt.Sprintf(`"%s":{"parallelism":{"lowerBound":1,"upperBound":3}}`, id))
	}
	p.send("proxy-put", call{
		method: http.MethodPut, url: p.active.URL() + "/proxy/" + app.ID + "/jobs/" + jobID + "/resource-requirements",
		body: "{" + strings.Join(parts, ",") + "}",
	})
	recorded(p.t, app.WaitOnlyJob(ctx, "two of each task", func(j flinklocal.Job) bool {
		return j.AllRunning() && j.Vertices[0].Parallelism == 2
	}))
	p.get("app-wanting", p.api()+"/apps/"+app.ID)
	p.get("metrics-wanting", p.api()+"/metrics")
	p.get("scheduler-capacity-wanting", p.api()+"/scheduler")
}

// finished stops the job with a savepoint; the application ends when the result was read.
func (p *shapes) finished(app *hadoop.App) {
	ctx := p.t.Context()
	jobID, err := app.JobID(ctx)
	recorded(p.t, err)
	url, err := app.URL(ctx)
	recorded(p.t, err)
	trigger := strings.Repeat("1", 32)
	body := fmt.Sprintf(`{"targetDirectory":%q,"drain":false,"triggerId":%q}`, p.flink.Savepoints(), trigger)
	p.flinkCall(http.MethodPost, url+"/jobs/"+jobID+"/stop", body)
	recorded(p.t, app.Wait(ctx, "over", func(s hadoop.AppStatus) bool {
		var result struct{ Status struct{ ID string } }
		_ = app.Get(ctx, "/jobs/"+jobID+"/savepoints/"+trigger, &result) // what comes of it shows in the state
		return s.State == "FINISHED"
	}))
	p.get("app-finished", p.api()+"/apps/"+app.ID)
	p.get("appattempts-finished", p.api()+"/apps/"+app.ID+"/appattempts")
	p.send("put-killed-finished", call{method: http.MethodPut, url: p.api() + "/apps/" + app.ID + "/state", body: `{"state":"KILLED"}`})
	p.proxy("proxy-finished", app)
}

func (p *shapes) flinkCall(method, url, body string) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, url, strings.NewReader(body))
	recorded(p.t, err)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	recorded(p.t, err)
	_ = res.Body.Close()
	if res.StatusCode/100 != 2 {
		p.t.Fatalf("%s %s: %s", method, url, res.Status)
	}
}

// killed records what a PUT of the state answers, and what is left of the application.
func (p *shapes) killed(app *hadoop.App) {
	state := p.api() + "/apps/" + app.ID + "/state"
	p.send("put-state-other", call{method: http.MethodPut, url: state, body: `{"state":"RUNNING"}`})
	p.send("put-state-broken", call{method: http.MethodPut, url: state, body: "{"})
	p.send("put-state-no-type", call{method: http.MethodPut, url: state, body: `{"state":"KILLED"}`, contentType: "none"})
	p.send("put-killed", call{method: http.MethodPut, url: state, body: `{"state":"KILLED"}`})
	recorded(p.t, app.WaitState(p.t.Context(), "KILLED"))
	p.send("put-killed-again", call{method: http.MethodPut, url: state, body: `{"state":"KILLED"}`})
	p.get("app-killed", p.api()+"/apps/"+app.ID)
	p.get("appattempts-killed", p.api()+"/apps/"+app.ID+"/appattempts")
	p.proxy("proxy-killed", app)
}

// failed records an application whose JobManager dies twice: after the first death it starts anew.
func (p *shapes) failed() {
	ctx := p.t.Context()
	a := p.job("failing")
	a.Options = map[string]string{"yarn.application-attempts": "2"}
	app, err := p.flink.Submit(ctx, a)
	recorded(p.t, err)
	recorded(p.t, p.cluster.KillAM(app.ID))
	recorded(p.t, app.Wait(ctx, "between two JobManagers", func(s hadoop.AppStatus) bool { return s.Address == "" }))
	p.get("app-restarting", p.api()+"/apps/"+app.ID)
	p.get("appattempts-restarting", p.api()+"/apps/"+app.ID+"/appattempts")
	p.proxy("proxy-restarting", app)
	recorded(p.t, app.Wait(ctx, "running again", func(s hadoop.AppStatus) bool { return s.State == "RUNNING" && s.Address != "" }))
	p.get("app-restarted", p.api()+"/apps/"+app.ID)
	p.get("appattempts-restarted", p.api()+"/apps/"+app.ID+"/appattempts")
	recorded(p.t, p.cluster.KillAM(app.ID))
	recorded(p.t, app.WaitState(ctx, "FAILED"))
	p.get("app-failed", p.api()+"/apps/"+app.ID)
	p.get("appattempts-failed", p.api()+"/apps/"+app.ID+"/appattempts")
	p.proxy("proxy-failed", app)
}

// unhealthy records an application that was deployed well and whose job then fails at once.
func (p *shapes) unhealthy() {
	a := p.job("unhealthy")
	a.Savepoint = p.flink.Savepoints() + "/savepoint-nowhere"
	app, err := p.flink.Begin(p.t.Context(), a)
	recorded(p.t, err)
	recorded(p.t, app.WaitState(p.t.Context(), "FINISHED", "FAILED"))
	p.get("app-finished-failed", p.api()+"/apps/"+app.ID)
}

// outage records the standby while nobody is active: its ZooKeeper hangs, so it cannot become active.
func (p *shapes) outage() {
	recorded(p.t, p.cluster.ZooKeeper().Freeze())
	recorded(p.t, p.active.Kill())
	apps := p.standby.URL() + "/ws/v1/cluster/apps"
	p.get("no-active", apps)
	p.get("no-active-query", apps+"?states=RUNNING")
	for _, interval := range []int{6, 7, 8} {
		p.get(fmt.Sprintf("no-active-retry-%d", interval), fmt.Sprintf("%s?next.refresh.interval=%d", apps, interval))
	}
	p.get("no-active-info", p.standby.URL()+"/ws/v1/cluster/info")
	recorded(p.t, p.cluster.ZooKeeper().Thaw())
}

// recordFair records the fair scheduler, idle and with an application.
func recordFair(t *testing.T, version, into string) {
	c, err := hadoop.Start(t.Context(), hadoop.Options{Version: version, YARN: true, Fair: true, NodeMemory: 3000, Log: os.Stderr})
	recorded(t, err)
	t.Cleanup(func() { recorded(t, c.Close()) })
	r := newRecorder(t, c, into)
	api := c.ResourceManager().URL() + "/ws/v1/cluster"
	r.get("info-alone", api+"/info")
	r.get("scheduler-fair-idle", api+"/scheduler")
	flink, err := c.Flink(t.Context(), hadoop.FlinkOptions{})
	recorded(t, err)
	rates, err := flinklocal.NewRateFile(filepath.Join(t.TempDir(), "rates"))
	recorded(t, err)
	recorded(t, rates.Set(100))
	app, err := flink.Submit(t.Context(), hadoop.Application{Name: "orders", Tags: []string{"fa-orders"}, Args: hadoop.JobArgs(rates)})
	recorded(t, err)
	r.get("app-running-fair", api+"/apps/"+app.ID)
	r.get("scheduler-fair-running", api+"/scheduler")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	recorded(t, app.Kill(ctx))
}
