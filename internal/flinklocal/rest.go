package flinklocal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"flinkscaler/internal/child"
)

// requestTimeout bounds one request. The standby of a lost leader lets requests hang for longer than anybody waits.
const requestTimeout = 10 * time.Second

// errorBodyLimit is how much of Flink's answer an error shows. Its errors carry whole stack traces.
const errorBodyLimit = 2000

// StatusError is an answer of Flink other than success.
type StatusError struct {
	Code int
	Body string
}

func (e *StatusError) Error() string { return fmt.Sprintf("status %d: %s", e.Code, e.Body) }

// restClient speaks to one JobManager.
type restClient struct {
	http *http.Client
	url  string
}

// do sends a request and decodes the answer into out, unless out is nil.
func (c restClient) do(ctx context.Context, request restRequest, out any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	call, err := http.NewRequestWithContext(ctx, request.method, c.url+request.path, bytes.NewReader(request.body))
	if err != nil {
		return err
	}
	if request.contentType != "" {
		call.Header.Set("Content-Type", request.contentType)
	}
	response, err := c.http.Do(call)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", request.method, request.path, err)
	}
	if response.StatusCode/100 != 2 {
		failed := &StatusError{Code: response.StatusCode, Body: string(body[:min(len(body), errorBodyLimit)])}
		return fmt.Errorf("%s %s: %w", request.method, request.path, failed)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("%s %s: decode answer: %w", request.method, request.path, err)
	}
	return nil
}

type restRequest struct {
	method, path, contentType string
	body                      []byte
}

func jsonRequest(method, path string, body any) (restRequest, error) {
	encoded, err := json.Marshal(body)
	return restRequest{method: method, path: path, contentType: "application/json", body: encoded}, err
}

// uploadRequest is the multipart form with which Flink takes a jar.
func uploadRequest(jar string) (restRequest, error) {
	content, err := os.ReadFile(jar)
	if err != nil {
		return restRequest{}, err
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	header := textproto.MIMEHeader{}
	header.Set("Content-Disposition", fmt.Sprintf(`form-data; name="jarfile"; filename=%q`, filepath.Base(jar)))
	header.Set("Content-Type", "application/x-java-archive")
	part, err := form.CreatePart(header)
	if err != nil {
		return restRequest{}, err
	}
	if _, err := part.Write(content); err != nil {
		return restRequest{}, err
	}
	if err := form.Close(); err != nil {
		return restRequest{}, err
	}
	return restRequest{method: http.MethodPost, path: "/jars/upload", contentType: form.FormDataContentType(), body: body.Bytes()}, nil
}

// Get asks the cluster's REST API and decodes the JSON answer into out. Another answer than success is a *StatusError.
func (c *Cluster) Get(ctx context.Context, path string, out any) error {
	return c.rest().do(ctx, restRequest{method: http.MethodGet, path: path}, out)
}

// JobOptions says how to run a job.
type JobOptions struct {
	// Name is given to the job as --name, as the test job takes it.
	Name string
	// Parallelism of the job. Default: the cluster's, which is 1.
	Parallelism int
	// Args of the job's main method.
	Args []string
	// Config overrides the cluster's Flink configuration for this job.
	Config map[string]string
	// JobID is 32 hex digits. Default: Flink chooses.
	JobID string
}

// runBody is the body of /jars/:id/run.
type runBody struct {
	Parallelism int               `json:"parallelism,omitempty"`
	Args        []string          `json:"programArgsList,omitempty"`
	Config      map[string]string `json:"flinkConfiguration,omitempty"`
	JobID       string            `json:"jobId,omitempty"`
}

func (o JobOptions) body() runBody {
	args := append([]string(nil), o.Args...)
	if o.Name != "" {
		args = append(args, "--name", o.Name)
	}
	return runBody{Parallelism: o.Parallelism, Args: args, Config: o.Config, JobID: o.JobID}
}

// Submit uploads a jar and runs it. The job is accepted then, not yet running: see WaitRunning.
func (c *Cluster) Submit(ctx context.Context, jar string, options JobOptions) (jobID string, err error) {
	return c.rest().submit(ctx, jar, options)
}

// SubmitTo is Submit to the session cluster whose REST API is at a URL.
func SubmitTo(ctx context.Context, url, jar string, options JobOptions) (jobID string, err error) {
	return restClient{http: http.DefaultClient, url: url}.submit(ctx, jar, options)
}

func (c restClient) submit(ctx context.Context, jar string, options JobOptions) (jobID string, err error) {
	upload, err := uploadRequest(jar)
	if err != nil {
		return "", fmt.Errorf("submit %s: %w", filepath.Base(jar), err)
	}
	var uploaded struct {
		Filename string `json:"filename"`
	}
	if err := c.do(ctx, upload, &uploaded); err != nil {
		return "", fmt.Errorf("submit %s: %w", filepath.Base(jar), err)
	}
	run, err := jsonRequest(http.MethodPost, "/jars/"+path.Base(uploaded.Filename)+"/run", options.body())
	if err != nil {
		return "", fmt.Errorf("submit %s: %w", filepath.Base(jar), err)
	}
	var started struct {
		JobID string `json:"jobid"`
	}
	if err := c.do(ctx, run, &started); err != nil {
		return "", fmt.Errorf("submit %s: %w", filepath.Base(jar), err)
	}
	return started.JobID, nil
}

// Job is what GET /jobs/:id shows, as far as tests need it.
type Job struct {
	ID        string   `json:"jid"`
	Name      string   `json:"name"`
	State     string   `json:"state"`
	StartTime int64    `json:"start-time"`
	Vertices  []Vertex `json:"vertices"`
}

// Vertex is one vertex of a Job.
type Vertex struct {
	ID             string         `json:"id"`
	Name           string         `json:"name"`
	Parallelism    int            `json:"parallelism"`
	MaxParallelism int            `json:"maxParallelism"`
	Tasks          map[string]int `json:"tasks"`
	Metrics        struct {
		ReadRecords  int64 `json:"read-records"`
		WriteRecords int64 `json:"write-records"`
	} `json:"metrics"`
}

// AllRunning reports whether the job and every task of it run. Flink calls a job RUNNING before its tasks are.
func (j Job) AllRunning() bool {
	if j.State != "RUNNING" || len(j.Vertices) == 0 {
		return false
	}
	for _, vertex := range j.Vertices {
		if vertex.Tasks["RUNNING"] != vertex.Parallelism {
			return false
		}
	}
	return true
}

// Ended reports whether the job has reached a state that it never leaves.
func (j Job) Ended() bool {
	return j.State == "FAILED" || j.State == "CANCELED" || j.State == "FINISHED"
}

// Vertex returns the vertex whose name contains part.
func (j Job) Vertex(part string) (Vertex, bool) {
	for _, vertex := range j.Vertices {
		if strings.Contains(vertex.Name, part) {
			return vertex, true
		}
	}
	return Vertex{}, false
}

// summary is what a wait shows of a job.
func (j Job) summary() string {
	text := j.State
	for _, vertex := range j.Vertices {
		text += fmt.Sprintf(", %q %d of %d running", vertex.Name, vertex.Tasks["RUNNING"], vertex.Parallelism)
	}
	return text
}

// Job reads a job.
func (c *Cluster) Job(ctx context.Context, jobID string) (Job, error) {
	var job Job
	err := c.Get(ctx, "/jobs/"+jobID, &job)
	return job, err
}

// WaitRunning waits until the job and all of its tasks run. It fails at once when the job has ended.
func (c *Cluster) WaitRunning(ctx context.Context, jobID string) error {
	return c.WaitJob(ctx, jobID, "job "+jobID+" to run", func(job Job) bool { return job.AllRunning() })
}

// WaitJob waits until the job is as wanted; what says it in words, for the error. It fails at once when the job has
// ended and is not as wanted. A JobManager that does not answer at the moment is asked again.
func (c *Cluster) WaitJob(ctx context.Context, jobID, what string, wanted func(Job) bool) error {
	ctx, cancel := context.WithTimeout(ctx, c.options.WaitTimeout)
	defer cancel()
	return child.WaitFor(ctx, what, func(ctx context.Context) (string, bool, error) {
		job, err := c.Job(ctx, jobID)
		switch {
		case err != nil:
			return err.Error(), false, nil
		case wanted(job):
			return "", true, nil
		case job.Ended():
			return "", false, fmt.Errorf("it is %s: %s", job.State, c.exception(ctx, jobID))
		default:
			return job.summary(), false, nil
		}
	})
}

// exception is the job's last failure, as text for an error.
func (c *Cluster) exception(ctx context.Context, jobID string) string {
	var answer struct {
		History struct {
			Entries []struct {
				Stacktrace string `json:"stacktrace"`
			} `json:"entries"`
		} `json:"exceptionHistory"`
	}
	if err := c.Get(ctx, "/jobs/"+jobID+"/exceptions", &answer); err != nil {
		return err.Error()
	}
	if len(answer.History.Entries) == 0 {
		return "no exception known"
	}
	trace := answer.History.Entries[0].Stacktrace
	return trace[:min(len(trace), errorBodyLimit)]
}

// Cancel ends a job and waits until it has ended. A job that has ended or is unknown is no error.
func (c *Cluster) Cancel(ctx context.Context, jobID string) error {
	request := restRequest{method: http.MethodPatch, path: "/jobs/" + jobID + "?mode=cancel"}
	err := c.rest().do(ctx, request, nil)
	var status *StatusError
	if errors.As(err, &status) && (status.Code == http.StatusNotFound || status.Code == http.StatusConflict) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cancel job %s: %w", jobID, err)
	}
	return c.WaitJob(ctx, jobID, "job "+jobID+" to end", Job.Ended)
}

// Overview is what GET /overview shows, as far as tests need it.
type Overview struct {
	TaskManagers   int `json:"taskmanagers"`
	SlotsTotal     int `json:"slots-total"`
	SlotsAvailable int `json:"slots-available"`
}

// Overview reads the cluster's slots.
func (c *Cluster) Overview(ctx context.Context) (Overview, error) {
	var overview Overview
	err := c.Get(ctx, "/overview", &overview)
	return overview, err
}

// WaitSlots waits until the cluster has so many slots, used or not. After a loss Flink counts the lost TaskManager for
// a second or two more, so a wait for fewer slots shows that the loss was noticed.
func (c *Cluster) WaitSlots(ctx context.Context, total int) error {
	return c.waitOverview(ctx, fmt.Sprintf("%d slots", total), func(o Overview) bool { return o.SlotsTotal == total })
}

func (c *Cluster) waitOverview(ctx context.Context, what string, wanted func(Overview) bool) error {
	ctx, cancel := context.WithTimeout(ctx, c.options.WaitTimeout)
	defer cancel()
	return child.WaitFor(ctx, what, func(ctx context.Context) (string, bool, error) {
		overview, err := c.Overview(ctx)
		if err != nil {
			return err.Error(), false, nil
		}
		state := fmt.Sprintf("%d taskmanagers, %d of %d slots available", overview.TaskManagers, overview.SlotsAvailable, overview.SlotsTotal)
		return state, wanted(overview), nil
	})
}
