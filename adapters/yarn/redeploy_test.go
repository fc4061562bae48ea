package yarn_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/adapters/flink"
	"flinkscaler/adapters/yarn"
	"flinkscaler/core"
)

const (
	oldJob = "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"
	newJob = "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b"
)

// deployment is a cluster with a scripted ResourceManager, a scripted Flink and a
// Flink command that is a script.
type deployment struct {
	*yarn.Cluster
	rm    *fakeRM
	flink *fakeFlink
	cfg   yarn.Config
	dir   string
	// job is the id of the one that is submitted.
	job string
}

// as makes the deployment that of a job of no other test: commands are looked for by
// it on the whole machine.
func (d *deployment) as(name string) {
	sum := sha256.Sum256([]byte(name))
	d.job = hex.EncodeToString(sum[:16])
	d.flink.id = d.job
}

// fakeFlink is a JobManager with one job.
type fakeFlink struct {
	*httptest.Server
	mu         sync.Mutex
	id, state  string
	exceptions string
	// submit is true for a session, as it says; target what it was started as.
	submit bool
	target string
}

func newFlink(t *testing.T, id, state string) *fakeFlink {
	t.Helper()
	f := &fakeFlink{id: id, state: state}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *fakeFlink) address() string { return strings.TrimPrefix(f.URL, "http://") }

func (f *fakeFlink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/jobs/overview") && f.id == "":
		_, _ = io.WriteString(w, `{"jobs":[]}`)
	case strings.HasSuffix(path, "/jobs/overview"):
		_, _ = fmt.Fprintf(w, `{"jobs":[{"jid":%q,"name":"orders","state":%q,"start-time":1,"end-time":-1,"duration":1,"last-modification":1,"tasks":{"total":0}}]}`, f.id, f.state)
	case strings.HasSuffix(path, "/exceptions"):
		_, _ = fmt.Fprintf(w, `{"exceptionHistory":{"entries":[{"exceptionName":"x","stacktrace":%q,"timestamp":2,"taskName":null}],"truncated":false}}`, f.exceptions)
	case strings.HasSuffix(path, "/jobmanager/config"):
		_, _ = fmt.Fprintf(w, `[{"key":"execution.target","value":%q}]`, f.target)
	case strings.HasSuffix(path, "/config") && !strings.Contains(path, "checkpoints"):
		_, _ = fmt.Fprintf(w, `{"refresh-interval":3000,"flink-version":"2.3.0","flink-revision":"x","features":{"web-submit":%v}}`, f.submit)
	case strings.HasSuffix(path, "/jars") && f.submit:
		_, _ = io.WriteString(w, `{"address":"x","files":[{"id":"1_orders.jar","name":"orders.jar","uploaded":1,"entry":[]}]}`)
	case strings.HasSuffix(path, "/jars"):
		w.WriteHeader(404)
		_, _ = io.WriteString(w, `{"errors":["Unable to load requested file /jars."]}`)
	default:
		w.WriteHeader(404)
		_, _ = io.WriteString(w, `{"errors":["not found"]}`)
	}
}

// deploying is a deployment whose command runs a script. Its arguments, one a line,
// and its environment are files beside it.
func deploying(t *testing.T, version, script string, args ...string) *deployment {
	t.Helper()
	d := &deployment{dir: t.TempDir(), flink: newFlink(t, newJob, "RUNNING"), job: newJob}
	home, conf := filepath.Join(d.dir, "flink"), filepath.Join(d.dir, "conf")
	for file, text := range map[string]string{
		filepath.Join(home, "bin", "flink"):                      "#!/bin/sh\nfor a in \"$@\"; do echo \"$a\"; done > " + d.dir + "/args\nenv > " + d.dir + "/env\n" + script + "\n",
		filepath.Join(home, "lib", "flink-dist-"+version+".jar"): "", filepath.Join(home, "lib", "flink-cep-9.9.9.jar"): "",
		filepath.Join(conf, "yarn-site.xml"): "<configuration/>", filepath.Join(conf, "core-site.xml"): "<configuration/>",
		filepath.Join(d.dir, "orders.jar"): "",
	} {
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(t, os.WriteFile(file, []byte(text), 0o755)) //nolint:gosec // a program of the test
	}
	d.rm = newRM(t, fakeApp{ID: firstID, User: "etl", Name: "orders", Queue: "root.shop", State: "FINISHED", FinalStatus: "SUCCEEDED", Type: "Apache Flink", Tags: "fa-orders,flinkscaler,flinkscaler-" + oldJob})
	d.rm.odd = func(w http.ResponseWriter, r *http.Request) bool {
		id, ok := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/ws/v1/cluster/apps/"), "/state")
		if r.Method != http.MethodPut || !ok {
			return false
		}
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Content-Type") != "application/json" || string(body) != `{"state":"KILLED"}` {
			answerText(w, 503, "application/xml", "<no/>")
			return true
		}
		d.rm.app(id, func(a *fakeApp) { a.State, a.FinalStatus, a.Diagnostics = "KILLED", "KILLED", "" })
		answerJSON(w, 202, map[string]string{"state": "RUNNING"})
		return true
	}
	d.cfg = yarn.Config{ResourceManagers: []string{d.rm.URL}, User: "etl", Flink: flink.Config{}, Redeploy: yarn.Redeploy{
		Savepoints: "hdfs://ns/flink/savepoints", FlinkHome: home, HadoopConfig: conf, Timeout: 2 * time.Second,
		Environment: map[string]string{"SHOP_TOKEN": "t0ken-of-shop"}, Options: map[string]string{"taskmanager.memory.process.size": "1g"},
		Jobs: map[string]yarn.Program{"orders": {
			Jar: filepath.Join(d.dir, "orders.jar"), EntryClass: "com.example.Orders", Args: args, Parallelism: 2, Options: map[string]string{"pipeline.name": "${parallelism:slow}"},
		}},
	}}
	d.Cluster = open(t, d.cfg).Impatient(time.Minute).Hurry()
	return d
}

// extras are what Prepare keeps of the first application.
func extras() map[string]string {
	return map[string]string{
		"target": `{"applicationName":"orders"}`, "stopped": firstID, "name": "orders", "queue": "root.shop", "tags": "fa-orders", "type": "Apache Flink", "user": "etl",
	}
}

// sessionTarget names a job of a session.
const sessionTarget = `{"applicationName":"orders","jobName":"orders"}`

func grown() []core.SubmittedVertex {
	return []core.SubmittedVertex{{ID: "aa", Name: "Source: gen", Parallelism: 1, Was: 1}, {ID: "bb", Name: "slow -> sink: Writer", Parallelism: 4, Was: 2}}
}

func submission() core.Submission {
	return core.Submission{JobID: newJob, Name: "orders", Savepoint: "hdfs://ns/flink/savepoints/d/savepoint-1", Vertices: grown(), Extras: extras()}
}

// second is the application of the submission in a state.
func (d *deployment) second(state, final, diagnostics string) fakeApp {
	a := fakeApp{ID: secondID, User: "etl", Name: "orders", Queue: "root.shop", State: state, FinalStatus: final, Type: "Apache Flink", Tags: "fa-orders,flinkscaler,flinkscaler-" + d.job, Diagnostics: diagnostics}
	if state == "RUNNING" {
		a.Address = d.flink.address()
	}
	return a
}

// wrote waits for a file of the command, and gives its lines.
func (d *deployment) wrote(t *testing.T, name string) []string {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		if b, err := os.ReadFile(filepath.Join(d.dir, name)); err == nil && len(b) > 0 {
			return strings.Split(strings.TrimSpace(string(b)), "\n")
		}
	}
	t.Fatalf("the command wrote no %s", name)
	return nil
}

func (d *deployment) ran() bool {
	_, err := os.Stat(filepath.Join(d.dir, "args"))
	return err == nil
}

// after does something once the command runs.
func (d *deployment) after(t *testing.T, do ...func()) {
	go func() {
		for until := time.Now().Add(10 * time.Second); time.Now().Before(until) && !d.ran(); {
			time.Sleep(5 * time.Millisecond)
		}
		for _, f := range do {
			time.Sleep(30 * time.Millisecond)
			f()
		}
	}()
}

func (d *deployment) shows(a fakeApp) func() {
	return func() { d.rm.set(func() { d.rm.apps[a.ID] = a }) }
}

// TestTheCommandOfASubmission is what each version takes, with nothing of ours in its
// environment.
func TestTheCommandOfASubmission(t *testing.T) {
	t.Setenv("TEMPORAL_API_KEY", "secret of ours")
	t.Setenv("HADOOP_CLASSPATH", "/hadoop/*")
	for version, want := range map[string]struct{ verb, savepoint, claim string }{
		"2.3.0":  {"run", "execution.state-recovery.path", "execution.state-recovery.claim-mode"},
		"1.20.5": {"run-application", "execution.savepoint.path", "execution.savepoint-restore-mode"},
	} {
		t.Run(version, func(t *testing.T) {
			d := deploying(t, version, "exit 0", "--slow", "${parallelism:slow}")
			d.after(t, d.shows(d.second("RUNNING", "UNDEFINED", "")))
			ref, err := d.Submit(t.Context(), submission())
			must(t, err)
			if ref.ID != newJob || ref.Extras["application"] != secondID || ref.Extras["target"] != extras()["target"] {
				t.Errorf("the job is found by %+v", ref)
			}
			lines := slices.DeleteFunc(d.wrote(t, "args"), func(s string) bool { return strings.HasPrefix(s, "-Dyarn.properties-file.location=") })
			expected := []string{
				want.verb, "-t", "yarn-application", "-d", "-D$internal.pipeline.job-id=" + newJob, "-Dexecution.attached=false",
				"-D" + want.savepoint + "=hdfs://ns/flink/savepoints/d/savepoint-1", "-D" + want.claim + "=NO_CLAIM", "-Dparallelism.default=2",
				"-Dpipeline.jobvertex-parallelism-overrides=aa:1,bb:4", "-Dpipeline.name=4", "-Dtaskmanager.memory.process.size=1g",
				"-Dyarn.application.name=orders", "-Dyarn.application.queue=root.shop", "-Dyarn.staging-directory=hdfs://ns/flink/flinkscaler-staging/" + newJob,
				"-Dyarn.tags=fa-orders,flinkscaler,flinkscaler-" + newJob, "-c", "com.example.Orders", filepath.Join(d.dir, "orders.jar"), "--slow", "4",
			}
			slices.Sort(lines[4 : len(lines)-5])
			slices.Sort(expected[4 : len(expected)-5])
			if diff := cmp.Diff(expected, lines); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
			env := d.wrote(t, "env")
			for _, v := range []string{"HADOOP_CONF_DIR=" + filepath.Join(d.dir, "conf"), "HADOOP_CLASSPATH=/hadoop/*", "HADOOP_USER_NAME=etl", "SHOP_TOKEN=t0ken-of-shop", "JVM_ARGS=-Xrs"} {
				if !slices.Contains(env, v) {
					t.Errorf("%s is not in its environment", v)
				}
			}
			if slices.ContainsFunc(env, func(v string) bool { return strings.Contains(v, "secret of ours") }) {
				t.Error("what is ours is in its environment")
			}
		})
	}
}

// TestSubmissions: once, judged by what YARN and Flink show and never by the command
// alone.
func TestSubmissions(t *testing.T) {
	t.Parallel()
	failure := "echo 'The program finished with the following exception:'; echo; echo 'org.apache.flink.client.deployment.ClusterDeploymentException: Could not deploy';" +
		"echo '\tat x.y'; echo 'Caused by: org.apache.hadoop.yarn.exceptions.YarnException: Failed to submit to unknown queue: nope, s3cret-of-the-program'; echo '\tat z'; exit 1"
	for name, tt := range map[string]struct {
		reason string
		script string
		bend   func(t *testing.T, d *deployment, s *core.Submission)
		err    error  // nil: it runs
		words  string // of the error
		never  string // in the error
		// ran is whether the command was to run, killed whether the second application.
		ran, killed bool
	}{
		"well": {"YARN shows it running", "sleep 60", func(t *testing.T, d *deployment, _ *core.Submission) {
			d.after(t, d.shows(d.second("ACCEPTED", "UNDEFINED", "")), d.shows(d.second("RUNNING", "UNDEFINED", "")))
		}, nil, "", "", true, false},
		"the command ends first": {"exit code 0 is not success yet, and the application comes", "exit 0", func(t *testing.T, d *deployment, _ *core.Submission) {
			d.after(t, d.shows(d.second("ACCEPTED", "UNDEFINED", "")), d.shows(d.second("RUNNING", "UNDEFINED", "")))
		}, nil, "", "", true, false},
		"the command fails after it": {"what runs, runs", "exit 1", func(t *testing.T, d *deployment, _ *core.Submission) {
			d.after(t, d.shows(d.second("RUNNING", "UNDEFINED", "")))
		}, nil, "", "", true, false},
		"refused":            {"the innermost words, without what the program was given", failure, nil, core.ErrRefused, "ended with 1: Failed to submit to unknown queue: nope, (hidden)", "s3cret", true, false},
		"nothing came of it": {"exit code 0 is not success", "echo done; exit 0", nil, core.ErrRefused, "there is no application; the Flink command ended with 0: done", "", true, false},
		"it hangs":           {"our own time-out ends it", "sleep 60", nil, core.ErrRefused, "no application within 2s", "", true, false},
		"a full queue": {"the command would wait for ever; the application is ended, too", "sleep 60", func(t *testing.T, d *deployment, _ *core.Submission) {
			d.after(t, d.shows(d.second("ACCEPTED", "UNDEFINED", "Application is Activated, waiting for resources to be assigned for AM. Queue's AM resource limit exceeded")))
		}, core.ErrNoRoom, "waiting for resources to be assigned for AM", "", true, true},
		"it ended at once": {"YARN says why", "sleep 60", func(t *testing.T, d *deployment, _ *core.Submission) {
			d.after(t, d.shows(d.second("FAILED", "FAILED", "AM Container exited with exitCode: 1")))
		}, core.ErrRefused, "exitCode: 1", "", true, false},
		"it ended without a word": {"where more can be read", "sleep 60", func(t *testing.T, d *deployment, _ *core.Submission) {
			d.after(t, d.shows(d.second("FINISHED", "FAILED", "")))
		}, core.ErrRefused, "see the logs of " + secondID, "", true, false},
		"the job failed at once": {"Flink says why for less than a second", "sleep 60", func(t *testing.T, d *deployment, _ *core.Submission) {
			d.flink.state, d.flink.exceptions = "FAILED", "java.lang.RuntimeException: x\nCaused by: java.io.FileNotFoundException: Cannot find checkpoint or savepoint file/directory\n"
			d.after(t, d.shows(d.second("RUNNING", "UNDEFINED", "")), func() { time.Sleep(100 * time.Millisecond) }, d.shows(d.second("FINISHED", "FAILED", "")))
		}, core.ErrRefused, "FAILED", "", true, false},
		"it runs already": {"an earlier call got through", "exit 3", func(_ *testing.T, d *deployment, _ *core.Submission) {
			d.rm.apps[secondID] = d.second("RUNNING", "UNDEFINED", "")
		}, nil, "", "", false, false},
		"it starts already": {"it is waited for, not submitted again", "exit 3", func(_ *testing.T, d *deployment, _ *core.Submission) {
			d.rm.apps[secondID] = d.second("ACCEPTED", "UNDEFINED", "")
			time.AfterFunc(100*time.Millisecond, d.shows(d.second("RUNNING", "UNDEFINED", "")))
		}, nil, "", "", false, false},
		"it has ended already": {"its id is used up", "exit 3", func(_ *testing.T, d *deployment, _ *core.Submission) {
			d.rm.apps[secondID] = d.second("FINISHED", "FAILED", "once")
		}, core.ErrRefused, "once", "", false, false},
		"an earlier call shows late": {"the tag is not seen at first: it is waited for before another one is begun", "exit 3", func(_ *testing.T, d *deployment, s *core.Submission) {
			s.Repeated = true
			time.AfterFunc(80*time.Millisecond, d.shows(d.second("RUNNING", "UNDEFINED", "")))
		}, nil, "", "", false, false},
		"an earlier call elsewhere": {"it may go on there until its time-out", "exit 3", func(_ *testing.T, d *deployment, s *core.Submission) {
			s.Elsewhere = time.Now()
			time.AfterFunc(1500*time.Millisecond, d.shows(d.second("RUNNING", "UNDEFINED", "")))
		}, nil, "", "", false, false},
		"an earlier call came to nothing": {"it is submitted again", "sleep 60", func(t *testing.T, d *deployment, s *core.Submission) {
			s.Repeated = true
			d.after(t, d.shows(d.second("RUNNING", "UNDEFINED", "")))
		}, nil, "", "", true, false},
		"no ResourceManager": {"nothing is begun blindly", "exit 3", func(_ *testing.T, d *deployment, _ *core.Submission) { d.rm.Close() }, core.ErrUnreachable, "", "", false, false},
		"an unknown vertex": {"a mistake in the file", "exit 3", func(_ *testing.T, _ *deployment, s *core.Submission) { s.Vertices = s.Vertices[:1] },
			core.ErrRefused, `wants the size of "slow"`, "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deploying(t, "2.3.0", tt.script, "--slow", "${parallelism:slow}", "--password", "s3cret-of-the-program")
			d.as(t.Name())
			s := submission()
			s.JobID = d.job
			if tt.bend != nil {
				tt.bend(t, d, &s)
			}
			ref, err := d.Submit(t.Context(), s)
			switch {
			case tt.err == nil && (err != nil || ref.ID != d.job || ref.Extras["application"] != secondID):
				t.Errorf("%s: %+v, %v", tt.reason, ref, err)
			case tt.err != nil && (!errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.words)):
				t.Errorf("%s: %v, want %v: %s", tt.reason, err, tt.err, tt.words)
			case tt.never != "" && strings.Contains(err.Error(), tt.never):
				t.Errorf("%s: %v", tt.reason, err)
			}
			if d.ran() != tt.ran {
				t.Errorf("%s: the command ran: %v", tt.reason, d.ran())
			}
			if killed := d.rm.asked("PUT ") > 0; killed != tt.killed {
				t.Errorf("%s: an application was killed: %v", tt.reason, killed)
			}
		})
	}
}

// TestAWorkerThatEndsLeavesTheApplication: the command is killed, which does not take
// the application with it, and nothing of it is left.
func TestAWorkerThatEndsLeavesTheApplication(t *testing.T) {
	t.Parallel()
	d := deploying(t, "2.3.0", "sleep 300 & sleep 300")
	s := submission()
	s.JobID = strings.Repeat("0c", 16) // of no other test: its processes are looked for
	ctx, cancel := context.WithCancel(t.Context())
	d.after(t, cancel)
	if _, err := d.Submit(ctx, s); !errors.Is(err, core.ErrUnreachable) {
		t.Errorf("error %v, want unreachable: it may be on its way", err)
	}
	for until := time.Now().Add(5 * time.Second); yarn.Left(s.JobID) > 0 && time.Now().Before(until); {
		time.Sleep(5 * time.Millisecond)
	}
	if n := yarn.Left(s.JobID); n != 0 {
		t.Errorf("%d processes of the command are left", n)
	}
	if d.rm.asked("PUT ") != 0 {
		t.Error("an application was killed")
	}
}

// TestTheOldApplicationEndsFirst: one that goes on without a job is killed, one with a
// job is not, and nothing is submitted beside either.
func TestTheOldApplicationEndsFirst(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		state  string
		killed bool
	}{
		"its job has ended": {"it is an older generation that hangs", "FINISHED", true},
		"its job runs":      {"somebody needs it", "RUNNING", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deploying(t, "2.3.0", "sleep 60")
			old := newFlink(t, oldJob, tt.state)
			d.rm.app(firstID, func(a *fakeApp) { a.State, a.FinalStatus, a.Address = "RUNNING", "UNDEFINED", old.address() })
			d.as(t.Name())
			d.after(t, d.shows(d.second("RUNNING", "UNDEFINED", "")))
			s := submission()
			s.JobID = d.job
			_, err := d.Submit(t.Context(), s)
			if killed := d.rm.asked("PUT /ws/v1/cluster/apps/"+firstID+"/state") > 0; killed != tt.killed || d.ran() != tt.killed {
				t.Errorf("%s: killed %v, submitted %v", tt.reason, killed, d.ran())
			}
			if tt.killed != (err == nil) || err != nil && !errors.Is(err, core.ErrUnreachable) {
				t.Errorf("%s: %v", tt.reason, err)
			}
		})
	}
}

// TestCopies: what may run is never left out, and what is not known is an error.
func TestCopies(t *testing.T) {
	t.Parallel()
	job := core.JobRef{ID: newJob, Name: "orders", Extras: extras()}
	was := core.JobRef{ID: oldJob, Name: "orders", Extras: map[string]string{"target": extras()["target"], "application": firstID}}
	inSession := core.JobRef{ID: newJob, Name: "orders", Extras: map[string]string{"target": sessionTarget, "stopped": secondID}}
	for name, tt := range map[string]struct {
		reason string
		job    core.JobRef
		bend   func(d *deployment)
		want   map[string]core.JobState
		err    error
	}{
		"none yet":      {"the old one has ended", job, nil, map[string]core.JobState{}, nil},
		"the old one":   {"it ended well", was, nil, map[string]core.JobState{oldJob: core.JobFinished}, nil},
		"the first one": {"it is not ours and has no tag", core.JobRef{ID: "ff", Name: "orders", Extras: was.Extras}, func(d *deployment) { d.rm.app(firstID, func(a *fakeApp) { a.Tags = "fa-orders" }) }, map[string]core.JobState{"ff": core.JobFinished}, nil},
		"starting":      {"YARN has it", job, func(d *deployment) { d.rm.apps[secondID] = d.second("ACCEPTED", "UNDEFINED", "") }, map[string]core.JobState{newJob: core.JobInitializing}, nil},
		"running":       {"Flink has it", job, func(d *deployment) { d.rm.apps[secondID] = d.second("RUNNING", "UNDEFINED", "") }, map[string]core.JobState{newJob: core.JobRunning}, nil},
		"no job yet":    {"its program has not come so far", job, func(d *deployment) { d.rm.apps[secondID] = d.second("RUNNING", "UNDEFINED", ""); d.flink.id = "" }, map[string]core.JobState{newJob: core.JobInitializing}, nil},
		"killed":        {"by somebody", job, func(d *deployment) { d.rm.apps[secondID] = d.second("KILLED", "KILLED", "") }, map[string]core.JobState{newJob: core.JobCanceled}, nil},
		"failed":        {"FINISHED says nothing", job, func(d *deployment) { d.rm.apps[secondID] = d.second("FINISHED", "FAILED", "") }, map[string]core.JobState{newJob: core.JobFailed}, nil},
		"another's":     {"it starts under the same name", job, func(d *deployment) { a := d.second("ACCEPTED", "UNDEFINED", ""); a.Tags = ""; d.rm.apps[secondID] = a }, map[string]core.JobState{secondID: core.JobInitializing}, nil},
		"another's, runs": {"under the same name", job, func(d *deployment) {
			a := d.second("RUNNING", "UNDEFINED", "")
			a.Tags, d.flink.id = "", "ee"
			d.rm.apps[secondID] = a
		}, map[string]core.JobState{"ee": core.JobRunning}, nil},
		"Flink is silent": {"whether it runs is not known", job, func(d *deployment) { d.rm.apps[secondID] = d.second("RUNNING", "UNDEFINED", ""); d.flink.Close() }, nil, core.ErrUnreachable},
		"the old one hides": {"after a restart of the ResourceManager it may run", was, func(d *deployment) {
			d.rm.app(firstID, func(a *fakeApp) { a.State, a.FinalStatus, a.Tags = "ACCEPTED", "UNDEFINED", "fa-orders" })
		}, nil, core.ErrNotReady},
		"YARN is silent":     {"nothing is known", job, func(d *deployment) { d.rm.Close() }, nil, core.ErrUnreachable},
		"no target":          {"found on another platform", core.JobRef{ID: newJob}, nil, nil, core.ErrRefused},
		"in a session":       {"it runs on without the job", inSession, func(d *deployment) { d.rm.apps[secondID] = d.second("RUNNING", "UNDEFINED", "") }, map[string]core.JobState{newJob: core.JobRunning}, nil},
		"in a session, none": {"it may be submitted", inSession, func(d *deployment) { d.rm.apps[secondID] = d.second("RUNNING", "UNDEFINED", ""); d.flink.id = "" }, map[string]core.JobState{}, nil},
		"a session that moves": {"it is no job of its own, and whether the job runs there is not known", inSession, func(d *deployment) {
			d.rm.apps[secondID] = d.second("ACCEPTED", "UNDEFINED", "")
		}, nil, core.ErrNotReady},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deploying(t, "2.3.0", "exit 0")
			if tt.bend != nil {
				tt.bend(d)
			}
			got, err := d.Copies(t.Context(), tt.job)
			if tt.err != nil {
				if !errors.Is(err, tt.err) {
					t.Errorf("%s: %+v, %v, want %v", tt.reason, got, err, tt.err)
				}
				return
			}
			states := map[string]core.JobState{}
			for _, j := range got {
				states[j.ID] = j.State
			}
			if diff := cmp.Diff(tt.want, states); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", tt.reason, err, diff)
			}
		})
	}
}

// storage notes what is removed.
type storage struct {
	exists  error
	removed []string
}

func (s *storage) Exists(context.Context, string) error { return s.exists }

func (s *storage) Unstage(_ context.Context, folder string) error {
	s.removed = append(s.removed, folder)
	return nil
}

// TestTidy: an older generation is ended, what is somebody else's is not, and only
// what submissions that are over have staged is removed.
func TestTidy(t *testing.T) {
	t.Parallel()
	d, s := deploying(t, "2.3.0", "exit 0"), &storage{}
	d.UseStorage(s)
	const third, theirs = "application_1795968107066_0003", "application_1795968107066_0004"
	job := core.JobRef{ID: newJob, Name: "orders", Extras: map[string]string{"target": extras()["target"], "application": secondID}}
	d.rm.apps[secondID] = d.second("RUNNING", "UNDEFINED", "")
	left := d.second("RUNNING", "UNDEFINED", "")
	left.ID, left.Tags = third, "fa-orders,flinkscaler-"+strings.Repeat("0d", 16)
	other := left
	other.ID, other.Tags = theirs, "fa-orders"
	d.rm.apps[third], d.rm.apps[theirs] = left, other
	note, err := d.Tidy(t.Context(), job, []string{oldJob, newJob, strings.Repeat("0e", 16), "../../savepoints"})
	if err != nil || !strings.Contains(note, third) || d.rm.asked("PUT ") != 1 || d.rm.asked("PUT /ws/v1/cluster/apps/"+third) != 1 {
		t.Errorf("%q, %v; killed %d", note, err, d.rm.asked("PUT "))
	}
	want := []string{"hdfs://ns/flink/flinkscaler-staging/" + oldJob, "hdfs://ns/flink/flinkscaler-staging/" + strings.Repeat("0e", 16)}
	if diff := cmp.Diff(want, s.removed); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	s.removed = nil
	job.ID, job.Extras = "", extras()
	if _, err := d.Tidy(t.Context(), job, []string{newJob}); err != nil || len(s.removed) > 0 || d.rm.asked("PUT ") != 1 {
		t.Errorf("where no job is known to live: %v, removed %v, killed %d", err, s.removed, d.rm.asked("PUT "))
	}
}

// TestPrepareNamesEveryProblem at once, before anything is stopped.
func TestPrepareNamesEveryProblem(t *testing.T) {
	t.Parallel()
	live := core.JobRef{ID: newJob, Name: "orders", FlinkVersion: "2.3.0", Extras: map[string]string{"target": extras()["target"], "application": secondID}}
	for name, tt := range map[string]struct {
		reason  string
		version string
		args    []string
		bend    func(d *deployment, c *yarn.Config)
		storage error
		want    []string
		err     error
	}{
		"well": {"all is there", "2.3.0", []string{"${parallelism:slow}"}, nil, nil, nil, nil},
		"everything at once": {"one try, one list", "1.20.5", []string{"${parallelism:fast}"}, func(d *deployment, c *yarn.Config) {
			c.Redeploy.HadoopConfig, c.User = d.dir, "other"
			_ = os.Remove(filepath.Join(d.dir, "orders.jar"))
			_ = os.Chmod(filepath.Join(c.Redeploy.FlinkHome, "bin", "flink"), 0o644) //nolint:gosec // not a program any more
		}, nil, []string{"is no program", "is of Flink 1.20, the job runs on 2.3", "has no yarn-site.xml", `"fast"`, "is of the user etl, and would be submitted as other", "orders.jar is not there"}, core.ErrRefused},
		"not told":      {"FLINK-38770, in applications too", "2.3.0", nil, func(_ *deployment, c *yarn.Config) { noOptions(c) }, nil, []string{"is run as an application", "yarn.redeploy gives the size of slow"}, core.ErrRefused},
		"not told, 1.x": {"Flink 1 takes the overrides", "1.20.5", nil, func(d *deployment, c *yarn.Config) { noOptions(c) }, nil, []string{"is of Flink 1.20"}, core.ErrRefused},
		"a jar on HDFS": {"it is gone", "2.3.0", nil, func(_ *deployment, c *yarn.Config) { jar(c, "hdfs://ns/jobs/orders.jar") }, fmt.Errorf("look for it: %w", core.ErrNotFound), []string{"look for it"}, core.ErrRefused},
		"HDFS is away":  {"it is not known", "2.3.0", nil, func(_ *deployment, c *yarn.Config) { jar(c, "hdfs://ns/jobs/orders.jar") }, core.ErrUnreachable, nil, core.ErrUnreachable},
		"not configured": {"nobody said how", "2.3.0", nil, func(_ *deployment, c *yarn.Config) { c.Redeploy.Jobs = map[string]yarn.Program{"other": {Jar: "/x"}} }, nil,
			[]string{"yarn.redeploy.jobs.orders"}, core.ErrRefused},
		"no home": {"nothing to submit with", "2.3.0", nil, func(_ *deployment, c *yarn.Config) { c.Redeploy.FlinkHome = "" }, nil, []string{"flinkHome: is missing"}, core.ErrRefused},
		"no room for a tag": {"it could not be found again", "2.3.0", nil, func(d *deployment, _ *yarn.Config) {
			d.rm.app(secondID, func(a *fakeApp) { a.Tags = "a,b,c,d,e,f,g,h,i,j,flinkscaler-" + newJob })
		}, nil, []string{"no room for the one by which"}, core.ErrRefused},
		"a session that is not named as one": {"it would be killed to make way", "2.3.0", nil, func(d *deployment, _ *yarn.Config) { d.flink.submit = true }, nil,
			[]string{secondID + " is a session", "target.yarn.jobName"}, core.ErrRefused},
		"one that takes no jobs over REST": {"it says what it was started as", "2.3.0", nil, func(d *deployment, _ *yarn.Config) { d.flink.target = "yarn-session" }, nil,
			[]string{secondID + " is a session"}, core.ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deploying(t, tt.version, "exit 0", tt.args...)
			d.rm.apps[secondID] = d.second("RUNNING", "UNDEFINED", "")
			cfg := d.cfg
			if tt.bend != nil {
				tt.bend(d, &cfg)
			}
			c := open(t, cfg).Impatient(time.Minute)
			c.UseStorage(&storage{exists: tt.storage})
			got, err := c.Prepare(t.Context(), live, grown())
			if !errors.Is(err, tt.err) {
				t.Fatalf("%s: %v, want %v", tt.reason, err, tt.err)
			}
			for _, w := range tt.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%s: %v, want in it %q", tt.reason, err, w)
				}
			}
			if err != nil {
				return
			}
			want := extras()
			want["stopped"] = secondID
			if diff := cmp.Diff(core.Prepared{Savepoints: "hdfs://ns/flink/savepoints", Extras: want, ByHand: core.ByHand{
				Command: "flink run -t yarn-application -d", Options: "-Dyarn.application.name=orders -Dyarn.tags=fa-orders -Dyarn.application.queue=root.shop",
			}}, got); diff != "" {
				t.Errorf("prepared (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPrepareInASession: it stays, so neither command nor home is needed; the program
// is one that was uploaded to it.
func TestPrepareInASession(t *testing.T) {
	t.Parallel()
	live := core.JobRef{ID: newJob, Name: "orders", FlinkVersion: "2.3.0", Extras: map[string]string{"target": sessionTarget, "application": secondID}}
	for name, tt := range map[string]struct {
		reason string
		jar    string
		args   []string
		bend   func(d *deployment, c *yarn.Config)
		want   string // of the error, empty for none
	}{
		"well":           {"all is there", "orders.jar", []string{"${parallelism:slow}"}, nil, ""},
		"a jar on HDFS":  {"that is how applications are submitted", "hdfs://ns/jobs/orders.jar", []string{"${parallelism:slow}"}, nil, "yarn.redeploy.jobs.orders.jar: must be the name of a jar that is uploaded"},
		"another jar":    {"a session that was moved has none", "other.jar", []string{"${parallelism:slow}"}, nil, "has no uploaded jar other.jar"},
		"not told":       {"FLINK-38770, over REST too", "orders.jar", nil, nil, "no argument of the program in yarn.redeploy gives the size of slow"},
		"not configured": {"nobody said how", "orders.jar", nil, func(_ *deployment, c *yarn.Config) { c.Redeploy.Jobs = map[string]yarn.Program{"other": {Jar: "x"}} }, "yarn.redeploy.jobs.orders"},
		"no session":     {"an application runs one job, and ends with it", "orders.jar", []string{"${parallelism:slow}"}, func(d *deployment, _ *yarn.Config) { d.flink.submit = false }, "takes no programs over REST"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deploying(t, "2.3.0", "exit 0", tt.args...)
			d.rm.apps[secondID] = d.second("RUNNING", "UNDEFINED", "")
			d.flink.submit = true
			cfg := d.cfg
			cfg.Redeploy.FlinkHome, cfg.Redeploy.HadoopConfig = "", ""
			jar(&cfg, tt.jar)
			if tt.bend != nil {
				tt.bend(d, &cfg)
			}
			got, err := open(t, cfg).Impatient(time.Minute).Prepare(t.Context(), live, grown())
			switch {
			case tt.want == "" && (err != nil || got.Savepoints != "hdfs://ns/flink/savepoints" || got.Extras["stopped"] != secondID || got.Extras["target"] != sessionTarget):
				t.Errorf("%s: %+v, %v", tt.reason, got, err)
			case tt.want != "" && (!errors.Is(err, core.ErrRefused) || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("%s: %v, want refused: %s", tt.reason, err, tt.want)
			}
		})
	}
}

func noOptions(c *yarn.Config) {
	p := c.Redeploy.Jobs["orders"]
	p.Options = nil
	c.Redeploy.Jobs = map[string]yarn.Program{"orders": p}
}

func jar(c *yarn.Config, place string) {
	p := c.Redeploy.Jobs["orders"]
	p.Jar = place
	c.Redeploy.Jobs = map[string]yarn.Program{"orders": p}
}

// TestAnApplicationOfOursThatHasEndedTells how, and why: its JobManager cannot any
// more.
func TestAnApplicationOfOursThatHasEndedTells(t *testing.T) {
	t.Parallel()
	d := deploying(t, "2.3.0", "exit 0")
	d.rm.apps[secondID] = d.second("FINISHED", "FAILED", "the savepoint is not there")
	job := core.JobRef{ID: newJob, Name: "orders", Extras: map[string]string{"target": extras()["target"], "application": secondID}}
	s, err := d.Status(t.Context(), job)
	if err != nil || s.State != core.JobFailed || s.ID != newJob {
		t.Errorf("status %+v, %v", s, err)
	}
	h, err := d.Inspect(t.Context(), job)
	if err != nil || !strings.Contains(h.LastErrorNote, "the savepoint is not there") || len(h.Errors) != 1 {
		t.Errorf("health %+v, %v", h, err)
	}
	if r, err := d.StopResult(t.Context(), job, "t"); err != nil || r.State != core.StopUnknown {
		t.Errorf("stop %+v, %v", r, err)
	}
	job.ID = oldJob
	if _, err := d.Status(t.Context(), job); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a job that it was not submitted for: %v", err)
	}
}

// TestPiecesOfASubmission that are pure.
func TestPiecesOfASubmission(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{
		"":       "",
		"a\nb\n": "b",
		"x.y.FooException: one\n\tat z\nCaused by: a.b.BarException: c.BazException: two\n\t... 3 more\nlast": "two",
	} {
		if got := yarn.Telling(output); got != want {
			t.Errorf("%q tells %q, want %q", output, got, want)
		}
	}
	if got, want := yarn.TagsFor("b,flinkscaler,flinkscaler-"+oldJob+",a", newJob), "b,a,flinkscaler,flinkscaler-"+newJob; got != want {
		t.Errorf("tags %s, want %s", got, want)
	}
	if got := yarn.TagsFor("a,b,c,d,e,f,g,h,i", newJob); strings.Contains(got, ",flinkscaler,") || !strings.HasSuffix(got, "i,flinkscaler-"+newJob) {
		t.Errorf("tags %s: the one that is needed has to fit", got)
	}
	for savepoints, want := range map[string]string{
		"hdfs://ns/flink/savepoints/": "hdfs://ns/flink/flinkscaler-staging", "hdfs://ns/savepoints": "hdfs://ns/flinkscaler-staging", "/mnt/flink/savepoints": "/mnt/flink/flinkscaler-staging",
		"hdfs:///flink/savepoints": "hdfs:///flink/flinkscaler-staging",
	} {
		if got := (yarn.Redeploy{Savepoints: savepoints}).Staging(); got != want {
			t.Errorf("staged beside %s: %s, want %s", savepoints, got, want)
		}
	}
}

// TestByHand: what a person types makes an application like the one before, in words
// that a shell does not change.
func TestByHand(t *testing.T) {
	t.Parallel()
	shop := yarn.Shown{ID: firstID, Name: "orders", Queue: "root.shop", Tags: "b,flinkscaler,flinkscaler-" + oldJob, Type: "Apache Flink"}
	odd := yarn.Shown{ID: firstID, Name: "it's $mine", Type: "Shop"}
	for name, tt := range map[string]struct {
		reason  string
		app     yarn.Shown
		session bool
		version string
		want    core.ByHand
	}{
		"2.3": {"run takes applications", shop, false, "2.3.0", core.ByHand{
			Command: "flink run -t yarn-application -d", Options: "-Dyarn.application.name=orders -Dyarn.tags=b -Dyarn.application.queue=root.shop",
		}},
		"1.20": {"a verb of its own, up to there", shop, false, "1.20.5", core.ByHand{
			Command: "flink run-application -t yarn-application -d", Options: "-Dyarn.application.name=orders -Dyarn.tags=b -Dyarn.application.queue=root.shop",
		}},
		"odd": {"names hold anything; a type that is not Flink's is told", odd, false, "2.3.0", core.ByHand{
			Command: "flink run -t yarn-application -d", Options: `'-Dyarn.application.name=it'\''s $mine' -Dyarn.application.type=Shop`,
		}},
		"session": {"it runs in the same one", shop, true, "2.3.0", core.ByHand{Command: "flink run -t yarn-session -d", Options: "-Dyarn.application.id=" + firstID}},
	} {
		if diff := cmp.Diff(tt.want, yarn.ByHand(tt.app, tt.session, tt.version)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tt.reason, diff)
		}
	}
}

// TestCancelOfAnApplicationThatWaits: the ResourceManager ends what has no Flink to ask,
// where it was submitted by us for exactly that job.
func TestCancelOfAnApplicationThatWaits(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		bend   func(d *deployment)
		killed bool
		err    error
	}{
		"waits":     {"its JobManager is gone", func(d *deployment) { d.rm.apps[secondID] = d.second("ACCEPTED", "UNDEFINED", "") }, true, nil},
		"another's": {"it is not ours to end", func(d *deployment) { a := d.second("ACCEPTED", "UNDEFINED", ""); a.Tags = ""; d.rm.apps[secondID] = a }, false, core.ErrNotReady},
		"for another": {"it has another job", func(d *deployment) {
			a := d.second("ACCEPTED", "UNDEFINED", "")
			a.Tags = "flinkscaler-" + oldJob
			d.rm.apps[secondID] = a
		}, false, core.ErrNotReady},
		"runs, silent":   {"what it does is not known", func(d *deployment) { d.rm.apps[secondID] = d.second("RUNNING", "UNDEFINED", ""); d.flink.Close() }, false, core.ErrUnreachable},
		"ended":          {"there is nothing to end", func(d *deployment) { d.rm.apps[secondID] = d.second("FINISHED", "FAILED", "") }, false, core.ErrNotFound},
		"YARN is silent": {"nothing is known", func(d *deployment) { d.rm.Close() }, false, core.ErrUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deploying(t, "2.3.0", "exit 0")
			tt.bend(d)
			job := core.JobRef{ID: newJob, Name: "orders", Extras: map[string]string{"target": extras()["target"], "application": secondID}}
			err := d.Cancel(t.Context(), job)
			if killed := d.rm.asked("PUT ") > 0; !errors.Is(err, tt.err) || killed != tt.killed {
				t.Errorf("%s: %v, killed %v", tt.reason, err, killed)
			}
		})
	}
}

// TestAJobThatItsProgramDoesNotComeTo: as long as the first ApplicationMaster shows no
// job, there was none: it can be ended, and nothing is lost with it. In every other case
// there may be one.
func TestAJobThatItsProgramDoesNotComeTo(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		bend   func(d *deployment, a *fakeApp)
		never  bool
	}{
		"its first attempt":  {"nothing was ever begun", func(*deployment, *fakeApp) {}, true},
		"a later attempt":    {"its job is not recovered yet", func(_ *deployment, a *fakeApp) { a.Attempts = 2 }, false},
		"another's":          {"it is not ours to judge", func(_ *deployment, a *fakeApp) { a.Tags = "" }, false},
		"another job":        {"its program does something else", func(d *deployment, _ *fakeApp) { d.flink.id = oldJob }, false},
		"attempts not told":  {"nothing proves it", func(d *deployment, _ *fakeApp) { d.rm.odd = silentAttempts(d.rm.odd) }, false},
		"Flink does not say": {"nothing is known", func(d *deployment, _ *fakeApp) { d.flink.Close() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deploying(t, "2.3.0", "exit 0")
			d.flink.id = ""
			a := d.second("RUNNING", "UNDEFINED", "")
			tt.bend(d, &a)
			d.rm.apps[secondID] = a
			job := core.JobRef{ID: newJob, Name: "orders", Extras: map[string]string{"target": extras()["target"], "application": secondID}}
			s, err := d.Status(t.Context(), job)
			if never := err == nil && s.State == core.JobInitializing && s.ID == newJob && !s.Now.IsZero(); never != tt.never {
				t.Errorf("%s: status %+v, %v", tt.reason, s, err)
			}
			h, err := d.Inspect(t.Context(), job)
			if never := err == nil && cmp.Equal(h, core.JobHealth{}); never != tt.never {
				t.Errorf("%s: health %+v, %v", tt.reason, h, err)
			}
			err = d.Cancel(t.Context(), job)
			if killed := d.rm.asked("PUT ") > 0; killed != tt.never || killed != (err == nil) {
				t.Errorf("%s: killed %v, error %v", tt.reason, killed, err)
			}
		})
	}
}

// silentAttempts has the ResourceManager not tell attempts.
func silentAttempts(next func(http.ResponseWriter, *http.Request) bool) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/appattempts") {
			answerText(w, 500, "text/html", "<html>no</html>")
			return true
		}
		return next(w, r)
	}
}
