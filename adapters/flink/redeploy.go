package flink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"flinkscaler/core"
	"flinkscaler/core/redeploy"
)

// Stop asks for a savepoint and the end of the job after it. The format is the
// canonical one: what is restored from it may have other sizes on any backend.
func (c *Cluster) Stop(ctx context.Context, job core.JobRef, s core.StopRequest) error {
	body, err := json.Marshal(struct {
		Directory string `json:"targetDirectory"`
		Drain     bool   `json:"drain"`
		Format    string `json:"formatType"`
		Trigger   string `json:"triggerId"`
	}{s.Directory, false, "CANONICAL", s.Trigger})
	if err != nil {
		return err
	}
	r := request{op: "stop with a savepoint", subject: job.ID, path: jobPath(job.ID, "/stop"), method: http.MethodPost, body: body}
	_, err = fetch(ctx, c, r, func(b []byte) (struct{}, error) {
		taken, err := fromJSON[struct {
			ID string `json:"request-id"`
		}](b)
		if err == nil && taken.ID != s.Trigger {
			err = fmt.Errorf("another stop is under way, %q", taken.ID)
		}
		return struct{}{}, err
	})
	return err
}

// StopResult reads how far a stop is.
func (c *Cluster) StopResult(ctx context.Context, job core.JobRef, trigger string) (core.StopResult, error) {
	r := request{op: "read the stop", subject: job.ID, path: jobPath(job.ID, "/savepoints/"+url.PathEscape(trigger))}
	result, err := fetch(ctx, c, r, decodeStop)
	if errors.Is(err, core.ErrNotFound) {
		return core.StopResult{State: core.StopUnknown}, nil
	}
	return result, err
}

func decodeStop(b []byte) (core.StopResult, error) {
	body, err := fromJSON[struct {
		Status struct {
			ID string `json:"id"`
		} `json:"status"`
		Operation *struct {
			Location string `json:"location"`
			Failure  *struct {
				Class string `json:"class"`
				Trace string `json:"stack-trace"`
			} `json:"failure-cause"`
		} `json:"operation"`
	}](b)
	if err != nil {
		return core.StopResult{}, err
	}
	switch o := body.Operation; {
	case body.Status.ID == "IN_PROGRESS":
		return core.StopResult{State: core.StopInProgress}, nil
	case body.Status.ID != "COMPLETED" || o == nil:
		return core.StopResult{}, fmt.Errorf("a stop in the state %q without a result", cut(body.Status.ID, 40))
	case o.Failure != nil:
		return core.StopResult{State: core.StopFailed, Why: cut(rootWords(o.Failure.Trace), maxNote)}, nil
	case o.Location == "":
		return core.StopResult{}, errors.New("a stop that is done, without a savepoint")
	default:
		return core.StopResult{State: core.StopDone, Location: o.Location}, nil
	}
}

// rootWords takes the message of the innermost cause out of a stack trace.
func rootWords(trace string) string {
	last := trace
	for line := range strings.Lines(trace) {
		if cause, ok := strings.CutPrefix(line, "Caused by: "); ok {
			last = cause
		}
	}
	return firstWords(last)
}

// Cancel ends a job without a savepoint.
func (c *Cluster) Cancel(ctx context.Context, job core.JobRef) error {
	r := request{op: "cancel job", subject: job.ID, path: jobPath(job.ID, "?mode=cancel"), method: http.MethodPatch}
	_, err := fetch(ctx, c, r, decodeTaken)
	return err
}

// Copies gives every job with the name or id of this one, sorted by id.
func (c *Cluster) Copies(ctx context.Context, job core.JobRef) ([]core.JobRef, error) {
	jobs, err := c.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	var out []core.JobRef
	for _, j := range jobs {
		if j.Name == job.Name || j.ID == job.ID {
			out = append(out, core.JobRef{ID: j.ID, Name: j.Name, State: j.State})
		}
	}
	return out, nil
}

// Prepare checks settings, program and sizes.
func (c *Cluster) Prepare(ctx context.Context, job core.JobRef, vertices []core.SubmittedVertex) (core.Prepared, error) {
	fail := func(err error) (core.Prepared, error) {
		return core.Prepared{}, &core.OpError{Op: "prepare a redeploy", Subject: job.Name, Err: err}
	}
	program, err := c.program(job.Name)
	if err != nil {
		return fail(err)
	}
	if _, err := c.jar(ctx, program.Jar); err != nil {
		return fail(err)
	}
	if _, err := Expand(program.Args, vertices); err != nil {
		return fail(err)
	}
	version, err := c.Version(ctx)
	if err != nil {
		return fail(err)
	}
	if major(version.Flink) >= FirstWithoutOverrides {
		if err := Covered(program.Args, vertices, "over REST", c.redeploy.section()); err != nil {
			return fail(err)
		}
	}
	return core.Prepared{Savepoints: c.redeploy.Savepoints}, nil
}

// FirstWithoutOverrides: from Flink 2.0 on a program is submitted in a form for
// which Flink ignores the overrides (FLINK-38770), over REST as in an application
// of its own. They are sent all the same, for the version that heeds them again.
const FirstWithoutOverrides = 2

func major(version string) int {
	first, _, _ := strings.Cut(version, ".")
	n, _ := strconv.Atoi(first)
	return n
}

// Covered is an error where the size of a vertex would change and the program is
// not told. how says how the program is run, section where it is configured.
func Covered(args []string, vertices []core.SubmittedVertex, how, section string) error {
	keys := placeholders(args)
	for _, v := range vertices {
		if v.Parallelism != v.Was && !slices.ContainsFunc(keys, func(key string) bool { return means(key, v) }) {
			return fmt.Errorf("%w: Flink 2 ignores %s of a program that is run %s, and no argument of the program in %s gives the size of %s, such as ${parallelism:%s}; leave it out of scaling (vertex.exclude.ids), or have the program take it",
				core.ErrRefused, redeploy.OverridesKey, how, section, shortName(v.Name), shortName(v.Name))
		}
	}
	return nil
}

// Submit starts the job under the id given.
func (c *Cluster) Submit(ctx context.Context, s core.Submission) (core.JobRef, error) {
	fail := func(err error) (core.JobRef, error) {
		return core.JobRef{}, &core.OpError{Op: "submit job", Subject: s.Name, Err: err}
	}
	program, err := c.program(s.Name)
	if err != nil {
		return fail(err)
	}
	args, err := Expand(program.Args, s.Vertices)
	if err != nil {
		return fail(err)
	}
	version, err := c.Version(ctx)
	if err != nil {
		return fail(err)
	}
	jar, err := c.jar(ctx, program.Jar)
	if err != nil {
		return fail(err)
	}
	body, err := json.Marshal(runBody(s, program, args, major(version.Flink)))
	if err != nil {
		return fail(err)
	}
	r := request{op: "submit job", subject: s.Name, path: "/v1/jars/" + url.PathEscape(jar) + "/run", method: http.MethodPost, body: body}
	_, err = fetch(ctx, c, r, func(b []byte) (struct{}, error) {
		taken, err := fromJSON[struct {
			ID string `json:"jobid"`
		}](b)
		if err == nil && taken.ID != s.JobID {
			err = fmt.Errorf("the job has the id %q instead of %s", cut(taken.ID, 40), s.JobID)
		}
		return struct{}{}, err
	})
	if err == nil {
		return core.JobRef{ID: s.JobID, Name: s.Name}, nil
	}
	return core.JobRef{}, Redacted(err, Unspeakable(args, s.Name))
}

type runRequest struct {
	EntryClass  string            `json:"entryClass,omitempty"`
	Args        []string          `json:"programArgsList,omitempty"`
	Parallelism int               `json:"parallelism,omitempty"`
	JobID       string            `json:"jobId"`
	Savepoint   string            `json:"savepointPath"`
	NonRestored bool              `json:"allowNonRestoredState"`
	ClaimMode   string            `json:"claimMode,omitempty"`   // 2.x
	RestoreMode string            `json:"restoreMode,omitempty"` // 1.x
	Config      map[string]string `json:"flinkConfiguration"`
}

// runBody asks for a job that leaves the savepoint alone: until it has
// checkpoints of its own, the savepoint is the only way back.
func runBody(s core.Submission, p Program, args []string, major int) runRequest {
	const noClaim = "NO_CLAIM"
	sizes := make([]core.VertexSize, 0, len(s.Vertices))
	for _, v := range s.Vertices {
		sizes = append(sizes, core.VertexSize{ID: v.ID, Parallelism: v.Parallelism})
	}
	r := runRequest{
		EntryClass: p.EntryClass, Args: args, Parallelism: p.Parallelism, JobID: s.JobID, Savepoint: s.Savepoint,
		Config: map[string]string{redeploy.OverridesKey: redeploy.Overrides(sizes)},
	}
	if major >= 2 {
		r.ClaimMode = noClaim
	} else {
		r.RestoreMode = noClaim
	}
	return r
}

// program is how a job is submitted.
func (c *Cluster) program(name string) (Program, error) {
	p, ok := c.redeploy.Jobs[name]
	if !ok {
		return Program{}, fmt.Errorf("%w: the worker's file does not say how the job is submitted; give %s.jobs.%s of its cluster", core.ErrRefused, c.redeploy.section(), name)
	}
	return p, nil
}

// jar finds an uploaded program by its id, else the newest of that name.
func (c *Cluster) jar(ctx context.Context, wanted string) (string, error) {
	type file struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Uploaded int64  `json:"uploaded"`
	}
	files, err := fetch(ctx, c, request{op: "list jars", path: "/v1/jars"}, func(b []byte) ([]file, error) {
		body, err := fromJSON[struct {
			Files *[]file `json:"files"`
		}](b)
		if err != nil {
			return nil, err
		}
		if body.Files == nil {
			return nil, errors.New(`no "files" in the answer`)
		}
		return *body.Files, nil
	})
	if errors.Is(err, errNoSuchPath) {
		return "", fmt.Errorf("%w: the cluster takes no programs over REST (web.submit.enable)", core.ErrRefused)
	}
	if err != nil {
		return "", err
	}
	var found file
	for _, f := range files {
		if f.ID == wanted {
			return f.ID, nil
		}
		if f.Name == wanted && (found.ID == "" || f.Uploaded > found.Uploaded) {
			found = f
		}
	}
	if found.ID == "" {
		return "", fmt.Errorf("%w: the cluster has no uploaded jar %s; upload it again (POST /jars/upload)", core.ErrRefused, wanted)
	}
	return found.ID, nil
}
