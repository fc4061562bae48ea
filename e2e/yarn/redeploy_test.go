//go:build e2e

package yarn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/redeploy"
	"flinkscaler/e2e/hadoop"
	"flinkscaler/e2e/managed"
	"flinkscaler/e2e/testjob"
	"flinkscaler/internal/flinklocal"
	"flinkscaler/internal/toolcache"
	"flinkscaler/workflows"
)

// redeployed is a job under the default scheduler, and an installation that manages it.
type redeployed struct {
	*rig
	hadoop *hadoop.Cluster
	flink  *hadoop.Flink
	name   string
	key    core.JobKey
	rates  *flinklocal.RateFile
	more   []string
	// changed are the decisions that were carried out.
	changed []string
	// earlier is what other jobs had staged before.
	earlier map[string]bool
}

// within is how long the parts of a redeploy may take.
type within struct{ submit, verify string }

// underDefaultScheduler starts a job on the shared cluster, for orders of one or two
// subtasks.
func underDefaultScheduler(t *testing.T, name, version string, times within, more ...string) *redeployed {
	t.Helper()
	return startRedeployed(t, onHadoop(t), redeployedJob{name: name, version: version, times: times, more: more, rate: 300, policy: map[string]string{
		"job.autoscaler.interval": "2 s", "job.autoscaler.metrics.window": "14 s", "job.autoscaler.vertex.max-parallelism": "2",
	}})
}

// redeployedJob is a job under the default scheduler, before it is started.
type redeployedJob struct {
	name, version string
	times         within
	// more are arguments of the program, besides those that all have.
	more []string
	// rate is how many records arrive in a second at first.
	rate   float64
	policy map[string]string
	// kerberos is that section of the worker's file, without it the user is named. The
	// options are of Flink, for each submission: they say who logs in.
	kerberos map[string]any
	options  map[string]string
}

// startRedeployed starts a job that takes the size of its slow vertex as an argument,
// and counts its records: it fails when one is lost or doubled.
func startRedeployed(t *testing.T, c *hadoop.Cluster, j redeployedJob) *redeployed {
	t.Helper()
	f, err := c.Flink(t.Context(), hadoop.FlinkOptions{Version: j.version, DefaultScheduler: true})
	must(t, err)
	r := &redeployed{hadoop: c, flink: f, name: j.name, key: core.JobKey{Cluster: "hadoop", Job: j.name}, rates: load(t, j.rate), more: j.more}
	_, err = c.FS(t.Context(), "-mkdir", "-p", f.Savepoints()+"/"+j.name)
	must(t, err)
	_, err = f.Submit(t.Context(), hadoop.Application{Name: j.name, Tags: []string{"fa-" + j.name}, Args: r.args("1"), Options: j.options})
	must(t, err)
	r.rig = newRig(t, map[string]any{"hadoop": r.section(j)})
	r.earlier = r.stagings(t)
	t.Cleanup(func() { r.end(t) })
	policy := maps.Clone(j.policy)
	maps.Copy(policy, map[string]string{
		"job.autoscaler.redeploy.enabled": "true", "job.autoscaler.utilization.min": "0", "job.autoscaler.rescale.verify-timeout": j.times.verify,
	})
	r.manage(r.key, core.YarnTarget{ApplicationName: j.name}, policy)
	r.await(r.key, "the job to be found", func(s workflows.Status) bool { return managed.Size(s, "slow") == 1 })
	return r
}

// args are those of the job's main method.
func (r *redeployed) args(size string) []string {
	return hadoop.JobArgs(r.rates, append([]string{"--name", r.name, "--max-parallelism", "24", "--slow-parallelism", size}, r.more...)...)
}

// section is that of the cluster in the worker's file.
func (r *redeployed) section(j redeployedJob) map[string]any {
	environment := map[string]string{}
	for _, v := range r.flink.Env() {
		key, value, _ := strings.Cut(v, "=")
		environment[key] = value
	}
	deploy := map[string]any{
		"savepoints": r.flink.Savepoints() + "/" + r.name, "flinkHome": r.flink.Home(), "hadoopConfig": r.hadoop.ConfDir(), "environment": environment, "timeout": j.times.submit,
		"jobs": map[string]any{r.name: map[string]any{"jar": r.flink.Jar(), "entryClass": testjob.MainClass, "args": r.args("${parallelism:slow}"), "parallelism": 1}},
	}
	yarn := map[string]any{"resourceManagers": r.hadoop.ResourceManagerURLs(), "flink": map[string]any{"timeout": "5 s"}, "redeploy": deploy}
	hdfs := map[string]any{"configDirectory": r.hadoop.ConfDir()}
	if j.kerberos == nil {
		yarn["user"], hdfs["user"] = r.hadoop.User(), r.hadoop.User()
		return map[string]any{"yarn": yarn, "hdfs": hdfs}
	}
	deploy["options"] = j.options
	// The worker tells the command by itself where krb5.conf is.
	flags := slices.DeleteFunc(strings.Fields(environment["JVM_ARGS"]), func(flag string) bool { return strings.HasPrefix(flag, "-Djava.security.krb5.conf=") })
	environment["JVM_ARGS"] = strings.Join(flags, " ")
	return map[string]any{"yarn": yarn, "hdfs": hdfs, "kerberos": j.kerberos}
}

// end kills what runs of the job.
func (r *redeployed) end(t *testing.T) {
	ctx := context.WithoutCancel(t.Context())
	for _, a := range r.live(t, ctx) {
		r.order(t, ctx, http.MethodPut, "/apps/"+a.ID+"/state", `{"state":"KILLED"}`, nil)
	}
}

// order asks the ResourceManager for something; to is what the answer is read into.
func (r *redeployed) order(t *testing.T, ctx context.Context, method, path, body string, to any) { //nolint:revive // t comes first
	t.Helper()
	url := r.hadoop.ResourceManagerURLs()[0] + "/ws/v1/cluster" + path + "?user.name=" + r.hadoop.User()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	must(t, err)
	req.Header.Set("Content-Type", "application/json")
	res, err := r.hadoop.HTTP().Do(req)
	must(t, err)
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %s", method, path, res.Status)
	}
	if to != nil {
		must(t, json.NewDecoder(res.Body).Decode(to))
	}
}

// listed is an application as YARN lists it.
type listed struct {
	ID, Name, User, State, FinalStatus string
	Tags                               string `json:"applicationTags"`
	Address                            string `json:"amRPCAddress"`
	Queue                              string
}

func (r *redeployed) listed(ctx context.Context) ([]listed, error) {
	var body struct {
		Apps *struct{ App []listed }
	}
	if err := r.hadoop.REST(ctx, "/apps", &body); err != nil || body.Apps == nil {
		return nil, err
	}
	return slices.DeleteFunc(body.Apps.App, func(a listed) bool { return a.Name != r.name }), nil
}

// live are the applications of the job that have not ended.
func (r *redeployed) live(t *testing.T, ctx context.Context) []listed { //nolint:revive // t comes first
	t.Helper()
	all, err := r.listed(ctx)
	must(t, err)
	return slices.DeleteFunc(all, func(a listed) bool { return slices.Contains([]string{"FINISHED", "FAILED", "KILLED"}, a.State) })
}

// resize orders a size.
func (r *redeployed) resize(to int) {
	r.t.Helper()
	r.run(bin.starter, "override", r.key.String(), "--vertex", fmt.Sprintf("slow -> sink: Writer=%d", to))
}

// reaches waits for the outcome of the next redeploy, and looks at what runs: one job,
// from the savepoint, which has lost and doubled nothing. An attempt that was refused
// before anything was done, as when what ran before still holds its room, is followed
// by another.
func (r *redeployed) reaches(t *testing.T, to int) core.Outcome {
	t.Helper()
	st := r.await(r.key, "the new size", func(s workflows.Status) bool {
		return s.Rescale == nil && s.LastRescale != nil && s.LastRescale.Redeploy != nil && !slices.Contains(r.changed, s.LastRescale.DecisionID)
	})
	o := *st.LastRescale
	r.changed = append(r.changed, o.DecisionID)
	if o.Kind != core.Applied || o.Redeploy.To != o.JobID {
		t.Fatalf("outcome %+v, %+v", o, o.Redeploy)
	}
	t.Attr("from_stop_to_running", fmt.Sprintf("%s (at %d, attempt %d)", o.RunningAt.Sub(o.WrittenAt), to, o.Attempt))
	r.runs(t, o, to)
	all, err := r.listed(t.Context())
	must(t, err)
	if want := len(r.changed) + 1; len(all) != want {
		t.Errorf("%d applications in all, want %d: one for each change: %+v", len(all), want, all)
	}
	return o
}

// runs looks at what runs after an outcome: one job, from the savepoint, which has lost
// and doubled nothing, and of what was staged only what it needs.
func (r *redeployed) runs(t *testing.T, o core.Outcome, to int) {
	t.Helper()
	live := r.live(t, t.Context())
	if len(live) != 1 || !strings.Contains(live[0].Tags, "flinkscaler-"+o.JobID) || !strings.Contains(live[0].Tags, "fa-"+r.name) {
		t.Fatalf("live applications %+v, want one with the tags of job %s", live, o.JobID)
	}
	base := "http://" + live[0].Address
	isWell(t, base, o, to)
	r.staged(t, o.JobID, live[0].ID)
}

// isWell looks at the job of an outcome in the Flink at an address: it runs from the
// savepoint, at the new size, and has lost and doubled nothing.
func isWell(t *testing.T, base string, o core.Outcome, to int) {
	t.Helper()
	var job flinklocal.Job
	readJSON(t, base+"/jobs/"+o.JobID, &job)
	if job.State != "RUNNING" {
		t.Errorf("the job is %s", job.State)
	}
	for _, v := range job.Vertices {
		if strings.HasPrefix(v.Name, "slow") && v.Parallelism != to {
			t.Errorf("%s runs at %d, want %d", v.Name, v.Parallelism, to)
		}
	}
	var checkpoints struct {
		Latest struct {
			Restored struct {
				Path string `json:"external_path"`
			}
		}
	}
	readJSON(t, base+"/jobs/"+o.JobID+"/checkpoints", &checkpoints)
	if got := checkpoints.Latest.Restored.Path; !redeploy.SamePath(got, o.Redeploy.Savepoint) {
		t.Errorf("restored from %s, the savepoint is %s", got, o.Redeploy.Savepoint)
	}
	var failures struct {
		History struct{ Entries []any } `json:"exceptionHistory"`
	}
	readJSON(t, base+"/jobs/"+o.JobID+"/exceptions", &failures)
	if n := len(failures.History.Entries); n > 0 {
		t.Errorf("the job failed %d times: it fails when a record is lost or doubled", n)
	}
}

// stagings lists the folders of submissions that are there.
func (r *redeployed) stagings(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	lines, err := r.hadoop.FS(t.Context(), "-ls", "-C", r.flink.Savepoints())
	must(t, err)
	if !strings.Contains(lines, "flinkscaler-staging") {
		return out
	}
	lines, err = r.hadoop.FS(t.Context(), "-ls", "-C", r.flink.Savepoints()+"/flinkscaler-staging")
	must(t, err)
	for line := range strings.Lines(lines) {
		if _, name, is := strings.Cut(strings.TrimSpace(line), "/flinkscaler-staging/"); is {
			out[name] = true
		}
	}
	return out
}

// staged: what submissions that are over have staged is gone, and what the containers
// of the running application read is there.
func (r *redeployed) staged(t *testing.T, job, application string) {
	t.Helper()
	root := r.flink.Savepoints() + "/flinkscaler-staging/" // beside savepoints/<name>
	out, err := r.hadoop.FS(t.Context(), "-ls", "-C", "-R", root)
	must(t, err)
	needed := 0
	for line := range strings.Lines(out) {
		_, below, is := strings.Cut(strings.TrimSpace(line), "/flinkscaler-staging/")
		switch {
		case !is, r.earlier[strings.Split(below, "/")[0]]:
		case below != job && !strings.HasPrefix(below, job+"/"):
			t.Errorf("left over of a submission that is over: %s", below)
		case strings.HasPrefix(below, job+"/.flink/"+application+"/"):
			needed++
		}
	}
	if needed == 0 {
		t.Errorf("nothing is staged for %s, which runs:\n%s", application, out)
	}
}

func readJSON(t *testing.T, url string, to any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	must(t, err)
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	defer func() { _ = res.Body.Close() }()
	must(t, json.NewDecoder(res.Body).Decode(to))
}

// moment is a step of a redeploy, as it shows from outside.
type moment struct {
	name string
	seen func(ctx context.Context) bool
}

// killAt waits for a moment, kills the worker at it, and starts it again.
func (r *redeployed) killAt(t *testing.T, m moment) {
	t.Helper()
	r.sees(t, m)
	must(t, r.Worker.Kill())
	t.Logf("killed %s", m.name)
	must(t, r.Worker.Launch())
}

// wrote is the moment at which the worker says something.
func (r *redeployed) wrote(name, text string) moment {
	before := r.Worker.Count(text)
	return moment{name, func(context.Context) bool { return r.Worker.Count(text) > before }}
}

// shown is the moment at which YARN shows n applications of the job, the newest of
// them in a state.
func (r *redeployed) shown(name string, n int, fits func(listed) bool) moment {
	return moment{name, func(ctx context.Context) bool {
		all, err := r.listed(ctx)
		if err != nil || len(all) != n {
			return false
		}
		newest := slices.MaxFunc(all, func(a, b listed) int { return strings.Compare(a.ID, b.ID) })
		return fits(newest)
	}}
}

// submits is the moment at which the Flink command runs.
func submits() moment {
	return moment{"while the command runs, and YARN knows of nothing", func(context.Context) bool {
		files, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, file := range files {
			env, err := os.ReadFile(file)
			if err == nil && strings.Contains(string(env), "FLINKSCALER_SUBMISSION=") && strings.Contains(string(env), "JVM_ARGS=-Xrs") {
				return true
			}
		}
		return false
	}}
}

// TestRedeployKilledAtEachStep: kill -9 of the worker before and after the stop,
// before the submission, while the command runs before and after YARN shows its
// application, and while the new job is watched.
func TestRedeployKilledAtEachStep(t *testing.T) {
	r := underDefaultScheduler(t, "redeployed", toolcache.Flink2, within{"3 min", "4 min"})
	stopping := r.wrote("before the stop", "stopping the job with a savepoint")
	r.resize(2)
	r.killAt(t, stopping)
	r.killAt(t, submits())
	r.killAt(t, r.shown("while it is watched", 2, func(a listed) bool { return a.State == "RUNNING" && a.Address != "" }))
	r.reaches(t, 2)

	r.resize(1)
	r.killAt(t, r.shown("after the stop", 2, func(a listed) bool { return a.State == "FINISHED" }))
	r.killAt(t, r.shown("once YARN shows the application", 3, func(a listed) bool { return a.State != "RUNNING" }))
	r.reaches(t, 1)
}

// fill has an application of another name take the room of the queue, and gives its id.
// It asks for one container, and never registers.
func (r *redeployed) fill(t *testing.T, megabytes int) string {
	t.Helper()
	var made struct {
		ID string `json:"application-id"`
	}
	r.order(t, t.Context(), http.MethodPost, "/apps/new-application", "", &made)
	r.order(t, t.Context(), http.MethodPost, "/apps", fmt.Sprintf(`{"application-id":%q,"application-name":"filler","application-type":"YARN","queue":"default","max-app-attempts":1,
		"am-container-spec":{"commands":{"command":"sleep 300"}},"resource":{"memory":%d,"vCores":1}}`, made.ID, megabytes), nil)
	r.rig.t.Cleanup(func() { r.free(t, made.ID) })
	return made.ID
}

// free ends the application that fills the queue.
func (r *redeployed) free(t *testing.T, id string) {
	t.Helper()
	r.order(t, context.WithoutCancel(t.Context()), http.MethodPut, "/apps/"+id+"/state", `{"state":"KILLED"}`, nil)
}

// sees waits for a moment.
func (r *redeployed) sees(t *testing.T, m moment) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for !m.seen(ctx) {
		select {
		case <-ctx.Done():
			t.Fatalf("the moment did not come: %s", m.name)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// TestRedeployIntoAFullQueue: somebody takes the room after the stop. The submission is
// ended by our time-out, and its application with it; once there is room the job runs
// at the size before, once.
func TestRedeployIntoAFullQueue(t *testing.T) {
	r := underDefaultScheduler(t, "crowded", toolcache.Flink2, within{"45 s", "4 min"})
	stopped := r.shown("after the stop", 1, func(a listed) bool { return a.State == "FINISHED" })
	r.resize(2)
	r.sees(t, stopped)
	fillers := []string{r.fill(t, 4096), r.fill(t, 4096)} // all that the one node has
	r.sees(t, r.shown("while it waits for room", 2, func(a listed) bool { return a.State == "ACCEPTED" }))
	r.sees(t, r.shown("ended by the time-out", 2, func(a listed) bool { return a.State == "KILLED" }))
	for _, id := range fillers {
		r.free(t, id)
	}
	st := r.await(r.key, "the size before", func(s workflows.Status) bool { return s.Rescale == nil && s.LastRescale != nil })
	o := *st.LastRescale
	// Where the command itself took that long, there was no application to be ended.
	waited := o.Reason == core.ReasonNoRoom || o.Reason == core.ReasonRefused
	if o.Kind != core.Undone || !waited || !strings.Contains(o.Note, "within 45s") || o.Undo == nil || o.Undo.Kind != core.Applied {
		t.Fatalf("outcome %+v, undo %+v", o, o.Undo)
	}
	t.Attr("without_the_job", o.RunningAt.Sub(o.WrittenAt).String())
	r.runs(t, o, 1)
}

// TestRedeployOnFlink1: once with nothing in the way; then the program does not come to
// its job at the next size, and its application makes way for the size before.
func TestRedeployOnFlink1(t *testing.T) {
	r := underDefaultScheduler(t, "redeployed-1", toolcache.Flink1, within{"3 min", "75 s"}, "--hang-at", "3")
	r.resize(2)
	r.reaches(t, 2)

	r.resize(3)
	st := r.await(r.key, "the size before", func(s workflows.Status) bool {
		return s.Rescale == nil && s.LastRescale.DecisionID != r.changed[0] && s.LastRescale.Redeploy != nil
	})
	o := *st.LastRescale
	if o.Kind != core.Undone || o.Reason != core.ReasonTasksNotRunning || !strings.Contains(o.Note, "INITIALIZING") || o.Undo == nil || o.Undo.Kind != core.Applied {
		t.Fatalf("outcome %+v, undo %+v", o, o.Undo)
	}
	t.Attr("without_the_job", o.RunningAt.Sub(o.WrittenAt).String())
	r.runs(t, o, 2)
}
