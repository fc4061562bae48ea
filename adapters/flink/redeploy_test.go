package flink_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/adapters/flink"
	"flinkscaler/core"
)

// deploying is an adapter that knows how to submit the job "orders".
func deploying(t *testing.T, f *fake, version string, args ...string) *flink.Cluster {
	t.Helper()
	f.on("GET /v1/config", says(http.StatusOK, `{"refresh-interval":3000,"flink-version":"`+version+`","flink-revision":"x","features":{"web-rescale":false}}`))
	f.on("GET /v1/jars", says(http.StatusOK, `{"address":"a","files":[
		{"id":"1_orders.jar","name":"orders.jar","uploaded":1,"entry":[]},{"id":"3_orders.jar","name":"orders.jar","uploaded":3,"entry":[]},
		{"id":"2_orders.jar","name":"orders.jar","uploaded":2,"entry":[]},{"id":"9_other.jar","name":"other.jar","uploaded":9,"entry":[]}]}`))
	c, err := flink.New(flink.Config{URLs: []string{f.URL}, Redeploy: flink.Redeploy{Savepoints: "file:///sp", Jobs: map[string]flink.Program{
		"orders": {Jar: "orders.jar", EntryClass: "com.example.Orders", Args: args, Parallelism: 2},
		"pinned": {Jar: "2_orders.jar"}, "lost": {Jar: "lost.jar"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

var grown = []core.SubmittedVertex{
	{ID: "aa", Name: "Source: gen", Parallelism: 1, Was: 1},
	{ID: "bb", Name: "slow -> sink: Writer", Parallelism: 4, Was: 2},
}

// TestASubmissionIsWhatEachVersionTakes: in the version's words, with sizes in
// the options and in the arguments, and nothing else than what was configured.
func TestASubmissionIsWhatEachVersionTakes(t *testing.T) {
	t.Parallel()
	for version, claim := range map[string]string{"2.3.0": "claimMode", "1.20.5": "restoreMode"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			c := deploying(t, f, version, "--slow", "${parallelism:slow}", "--all=${parallelism:Source: gen}/${parallelism:bb}", "$HOME")
			var body map[string]any
			f.on("POST /v1/jars/3_orders.jar/run", func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				_ = json.Unmarshal(b, &body)
				_, _ = w.Write([]byte(`{"jobid":"0a"}`))
			})
			if _, err := c.Submit(t.Context(), core.Submission{JobID: "0a", Name: "orders", Savepoint: "file:/sp/x", Vertices: grown}); err != nil {
				t.Fatal(err)
			}
			want := map[string]any{
				"entryClass": "com.example.Orders", "programArgsList": []any{"--slow", "4", "--all=1/4", "$HOME"}, "parallelism": 2.0,
				"jobId": "0a", "savepointPath": "file:/sp/x", "allowNonRestoredState": false, claim: "NO_CLAIM",
				"flinkConfiguration": map[string]any{"pipeline.jobvertex-parallelism-overrides": "aa:1,bb:4"},
			}
			if diff := cmp.Diff(want, body); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWhatCannotBeSubmittedIsRefusedBefore anything is stopped, with what to do.
func TestWhatCannotBeSubmittedIsRefusedBefore(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason  string
		version string
		job     string
		args    []string
		want    string // of the error, empty for none
	}{
		"told by an argument":     {"the program takes it", "2.3.0", "orders", []string{"${parallelism:slow}"}, ""},
		"not told, Flink 1":       {"Flink itself takes it", "1.20.5", "orders", nil, ""},
		"not told, Flink 2":       {"FLINK-38770: it would come back at its old size", "2.3.0", "orders", []string{"${parallelism:Source: gen}"}, "no argument of the program in flink.redeploy gives the size of slow, such as ${parallelism:slow}"},
		"an unknown vertex":       {"a mistake in the file, or another program", "1.20.5", "orders", []string{"${parallelism:fast}"}, `wants the size of "fast", which is the name of 0 vertices`},
		"by its id":               {"one of several jars of a name", "1.20.5", "pinned", nil, ""},
		"a jar that is not there": {"a JobManager that was replaced has none", "1.20.5", "lost", nil, "has no uploaded jar lost.jar; upload it again"},
		"not configured":          {"nobody said how", "1.20.5", "payments", nil, "flink.redeploy.jobs.payments"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, err := deploying(t, newFake(t), tt.version, tt.args...).Prepare(t.Context(), core.JobRef{Name: tt.job}, grown)
			switch {
			case tt.want == "" && (err != nil || base.Savepoints != "file:///sp"):
				t.Errorf("%s: %q, %v", tt.reason, base, err)
			case tt.want != "" && (!errors.Is(err, core.ErrRefused) || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("%s: %v, want refused: %s", tt.reason, err, tt.want)
			}
		})
	}
}

// TestAStopIsReadWithFlinksWords: those of the innermost cause, on one line.
func TestAStopIsReadWithFlinksWords(t *testing.T) {
	t.Parallel()
	const failed = `{"status":{"id":"COMPLETED"},"operation":{"failure-cause":{"class":"java.util.concurrent.CompletionException","stack-trace":"java.util.concurrent.CompletionException: org.apache.flink.runtime.checkpoint.CheckpointException: An Exception occurred while triggering the checkpoint. IO-problem detected.\n\tat java.base/java.lang.Thread.run(Thread.java:840)\nCaused by: org.apache.flink.runtime.checkpoint.CheckpointException: An Exception occurred while triggering the checkpoint. IO-problem detected.\n\t... 20 more\nCaused by: java.io.IOException: Failed to create savepoint directory at file:/proc/nope/a\n\tat x\n"}}}`
	for name, tt := range map[string]struct {
		status int
		body   string
		want   core.StopResult
		err    error
	}{
		"in progress": {200, `{"status":{"id":"IN_PROGRESS"},"operation":null}`, core.StopResult{State: core.StopInProgress}, nil},
		"done":        {200, `{"status":{"id":"COMPLETED"},"operation":{"location":"file:/sp/x"}}`, core.StopResult{State: core.StopDone, Location: "file:/sp/x"}, nil},
		"failed":      {200, failed, core.StopResult{State: core.StopFailed, Why: "Failed to create savepoint directory at file:/proc/nope/a"}, nil},
		"unknown":     {404, `{"errors":["org.apache.flink.runtime.rest.handler.RestHandlerException: There is no savepoint operation with triggerId=0 for job 0.\n\tat x"]}`, core.StopResult{State: core.StopUnknown}, nil},
		"no result":   {200, `{"status":{"id":"COMPLETED"},"operation":null}`, core.StopResult{}, core.ErrNotFlink},
		"no location": {200, `{"status":{"id":"COMPLETED"},"operation":{}}`, core.StopResult{}, core.ErrNotFlink},
		"no leader":   {503, `{"errors":["Service temporarily unavailable due to an ongoing leader election. Please refresh."]}`, core.StopResult{}, core.ErrNoLeader},
		"cut short":   {200, `{"status":{"id":"COMPL`, core.StopResult{}, core.ErrUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.on("GET /v1/jobs/"+f.job+"/savepoints/0", says(tt.status, tt.body))
			got, err := deploying(t, f, "2.3.0").StopResult(t.Context(), core.JobRef{ID: f.job}, "0")
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("%+v, %v, want %+v, %v", got, err, tt.want, tt.err)
			}
		})
	}
}

// TestAnAnswerThatIsAnotherJobsIsNone: what did not come of this request proves
// nothing.
func TestAnAnswerThatIsAnotherJobsIsNone(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := deploying(t, f, "1.20.5")
	f.on("POST /v1/jars/3_orders.jar/run", says(http.StatusOK, `{"jobid":"0b"}`))
	f.on("POST /v1/jobs/"+f.job+"/stop", says(http.StatusAccepted, `{"request-id":"0b"}`))
	if _, err := c.Submit(t.Context(), core.Submission{JobID: "0a", Name: "orders"}); err == nil {
		t.Error("another job was taken for ours")
	}
	if err := c.Stop(t.Context(), core.JobRef{ID: f.job}, core.StopRequest{Trigger: "0a", Directory: "file:///sp/d"}); err == nil {
		t.Error("another stop was taken for ours")
	}
}

// TestWhatAProgramThrowsIsNoAnswerOfFlinks: words in it must not be read as ours.
func TestWhatAProgramThrowsIsNoAnswerOfFlinks(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := deploying(t, f, "1.20.5", "--password", "s3cret")
	f.on("POST /v1/jars/3_orders.jar/run", says(http.StatusBadRequest, `{"errors":["org.apache.flink.runtime.rest.handler.RestHandlerException: Could not execute application.\n\tat x\nCaused by: org.apache.flink.client.program.ProgramInvocationException: The main method caused an error\n\t... 1 more\nCaused by: java.lang.UnsupportedOperationException: bad login: s3cret; topic not found\n\tat x"]}`))
	_, err := c.Submit(t.Context(), core.Submission{JobID: "0a", Name: "orders", Vertices: grown})
	if !errors.Is(err, core.ErrRefused) || errors.Is(err, core.ErrNotAdaptive) || errors.Is(err, core.ErrNotFound) || !strings.HasSuffix(err.Error(), "topic not found") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("error %v", err)
	}
}
