package hadoop

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"flinkscaler/internal/child"
	"flinkscaler/internal/flinklocal"
)

// App is an application on the cluster.
type App struct {
	ID, Name string
	// CLI is the command that submitted it, for whoever wants to kill it.
	CLI *child.Process

	cluster *Cluster
}

// AppStatus is what YARN shows of an application, as far as tests need it.
type AppStatus struct {
	State       string `json:"state"`
	FinalStatus string `json:"finalStatus"`
	Diagnostics string `json:"diagnostics"`
	// Address is that of Flink's REST API; empty while no JobManager is known, and stale after FINISHED.
	Address    string `json:"amRPCAddress"`
	Containers int    `json:"runningContainers"`
}

func (s AppStatus) String() string {
	return strings.Join(strings.Fields(fmt.Sprintf("%s %s with %d containers %s %s", s.State, s.FinalStatus, s.Containers, s.Address, s.Diagnostics)), " ")
}

// over reports whether it never runs again.
func (s AppStatus) over() bool {
	return slices.Contains([]string{"FINISHED", "FAILED", "KILLED"}, s.State)
}

// Status asks the active ResourceManager.
func (a *App) Status(ctx context.Context) (AppStatus, error) {
	var answer struct{ App AppStatus }
	err := a.cluster.REST(ctx, "/apps/"+a.ID, &answer)
	return answer.App, err
}

// WaitState waits until YARN shows the application in one of these states. It fails at once when it is over otherwise.
func (a *App) WaitState(ctx context.Context, states ...string) error {
	return a.Wait(ctx, strings.Join(states, " or "), func(s AppStatus) bool { return slices.Contains(states, s.State) })
}

// Wait waits until YARN shows what is wanted; what says it in words, for the error. A ResourceManager that does not answer
// is asked again. It fails at once when the application is over and that is not wanted.
func (a *App) Wait(ctx context.Context, what string, wanted func(AppStatus) bool) error {
	ctx, cancel := context.WithTimeout(ctx, a.cluster.options.WaitTimeout)
	defer cancel()
	return child.WaitFor(ctx, a.ID+" to be "+what, func(ctx context.Context) (string, bool, error) {
		status, err := a.Status(ctx)
		switch {
		case err != nil:
			return err.Error(), false, nil
		case wanted(status):
			return "", true, nil
		case status.over():
			return "", false, fmt.Errorf("it is %s\n%s", status, a.CLI.Tail())
		default:
			return status.String(), false, nil
		}
	})
}

// URL is the base of Flink's own REST API.
func (a *App) URL(ctx context.Context) (string, error) {
	status, err := a.Status(ctx)
	if err != nil {
		return "", err
	}
	if status.Address == "" {
		return "", fmt.Errorf("%s has no JobManager: it is %s", a.ID, status)
	}
	return "http://" + status.Address, nil
}

// ProxyURL is the base of Flink's REST API through the proxy of the first ResourceManager.
func (a *App) ProxyURL() string { return a.cluster.ResourceManager().URL() + "/proxy/" + a.ID }

// Get asks Flink's own REST API.
func (a *App) Get(ctx context.Context, path string, out any) error {
	url, err := a.URL(ctx)
	if err != nil {
		return err
	}
	return getJSON(ctx, http.DefaultClient, url+path, out)
}

// JobID is the id of the only job.
func (a *App) JobID(ctx context.Context) (string, error) {
	var overview struct{ Jobs []struct{ ID string } }
	if err := a.Get(ctx, "/jobs", &overview); err != nil {
		return "", err
	}
	if len(overview.Jobs) != 1 {
		return "", fmt.Errorf("%s has %d jobs; want one", a.ID, len(overview.Jobs))
	}
	return overview.Jobs[0].ID, nil
}

// WaitRunning waits until the application's only job runs with all of its tasks.
func (a *App) WaitRunning(ctx context.Context) error {
	return a.WaitOnlyJob(ctx, "all tasks of its job to run", flinklocal.Job.AllRunning)
}

// WaitOnlyJob waits until the application's only job is as wanted. It fails at once when the application is over.
func (a *App) WaitOnlyJob(ctx context.Context, what string, wanted func(flinklocal.Job) bool) error {
	return a.waitJob(ctx, what, a.JobID, wanted)
}

// WaitJob waits until a job is as wanted.
func (a *App) WaitJob(ctx context.Context, jobID, what string, wanted func(flinklocal.Job) bool) error {
	return a.waitJob(ctx, what, func(context.Context) (string, error) { return jobID, nil }, wanted)
}

func (a *App) waitJob(ctx context.Context, what string, id func(context.Context) (string, error), wanted func(flinklocal.Job) bool) error {
	ctx, cancel := context.WithTimeout(ctx, a.cluster.options.WaitTimeout)
	defer cancel()
	return child.WaitFor(ctx, what+" in "+a.ID, func(ctx context.Context) (string, bool, error) {
		status, err := a.Status(ctx)
		if err == nil && status.over() {
			return "", false, fmt.Errorf("it is %s\n%s", status, a.CLI.Tail())
		}
		jobID, err := id(ctx)
		if err != nil {
			return err.Error(), false, nil
		}
		var job flinklocal.Job
		if err := a.Get(ctx, "/jobs/"+jobID, &job); err != nil {
			return err.Error(), false, nil
		}
		if wanted(job) {
			return "", true, nil
		}
		if job.Ended() {
			return "", false, fmt.Errorf("the job is %s", job.State)
		}
		return summary(job), false, nil
	})
}

func summary(job flinklocal.Job) string {
	text := job.State
	for _, v := range job.Vertices {
		text += fmt.Sprintf(", %q at %d: %v", v.Name, v.Parallelism, v.Tasks)
	}
	return text
}

// Kill makes YARN end the application, and waits for that. One that is over stays as it is.
func (a *App) Kill(ctx context.Context) error {
	rm, err := a.cluster.Active(ctx)
	if err != nil {
		return fmt.Errorf("kill %s: %w", a.ID, err)
	}
	body := bytes.NewReader([]byte(`{"state":"KILLED"}`))
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, rm.URL()+"/ws/v1/cluster/apps/"+a.ID+"/state", body)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := a.cluster.options.Security.HTTP.Do(request)
	if err != nil {
		return fmt.Errorf("kill %s: %w", a.ID, err)
	}
	answer, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return fmt.Errorf("kill %s: %w", a.ID, err)
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("kill %s: %s: %s", a.ID, response.Status, answer)
	}
	return a.Wait(ctx, "over", AppStatus.over)
}
