package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"sigs.k8s.io/yaml"

	"flinkscaler/core"
	"flinkscaler/core/spec"
	"flinkscaler/internal/child"
	"flinkscaler/internal/devserver"
	"flinkscaler/internal/toolcache"
	"flinkscaler/workflows"
)

// Options say what to run.
type Options struct {
	// Dir is an existing folder for data, configuration and logs.
	Dir string
	// Worker is the path of the worker's binary.
	Worker string
	// Clusters is that section of the worker's configuration.
	Clusters map[string]any
	// UI runs Temporal's Web UI.
	UI bool
	// Attributes has the worker set search attributes, which are registered.
	Attributes bool
	// CyclesPerRun is when workflows continue as new, 0 for their own choice.
	CyclesPerRun int
}

// Stack is a running installation.
type Stack struct {
	Server *devserver.Server
	Worker *child.Process
	Client client.Client

	o    Options
	http string
}

// Start starts server and worker, and does not wait for the worker. What it
// fails to start leaves nothing running.
func Start(ctx context.Context, o Options) (*Stack, error) {
	s := &Stack{o: o}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Stack) start(ctx context.Context) error {
	cache, err := toolcache.Open()
	if err != nil {
		return err
	}
	temporal, err := cache.FindTemporal(ctx)
	if err != nil {
		return err
	}
	server := devserver.Options{Temporal: temporal, Dir: filepath.Join(s.o.Dir, "temporal"), UI: s.o.UI}
	if s.o.Attributes {
		server.Attributes = []string{
			workflows.AttrCluster + "=Keyword", workflows.AttrState + "=Keyword",
			workflows.AttrParallelism + "=Int", workflows.AttrLastRescale + "=Datetime",
		}
	}
	if s.Server, err = devserver.Start(ctx, server); err != nil {
		return err
	}
	quiet := sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))
	if s.Client, err = client.DialContext(ctx, client.Options{HostPort: s.Server.Address(), Logger: quiet}); err != nil {
		return fmt.Errorf("reach the Temporal dev server: %w", err)
	}
	return s.startWorker()
}

func (s *Stack) startWorker() error {
	ports, err := child.FreePorts(1)
	if err != nil {
		return err
	}
	listen := "127.0.0.1:" + strconv.Itoa(ports[0])
	s.http = "http://" + listen
	config, err := yaml.Marshal(map[string]any{
		"http":             map[string]any{"listen": listen},
		"searchAttributes": s.o.Attributes,
		"limits":           map[string]any{"cyclesPerRun": s.o.CyclesPerRun},
		"clusters":         s.o.Clusters,
	})
	if err != nil {
		return err
	}
	file := filepath.Join(s.o.Dir, "worker.yaml")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return err
	}
	s.Worker, err = child.Start(child.Command{
		Name: "worker", Path: s.o.Worker, Args: []string{"--config", file}, Env: s.Env(), Dir: s.o.Dir, LogDir: s.o.Dir,
	})
	return err
}

// HTTP is the address of the worker's health and metrics.
func (s *Stack) HTTP() string { return s.http }

// Env points programs at the server, whatever the user's own configuration
// says.
func (s *Stack) Env() []string {
	address := s.Server.Address()
	return []string{
		"TEMPORAL_ADDRESS=" + address, "TEMPORAL_CLI_ADDRESS=" + address, // tctl knows the second
		"TEMPORAL_CONFIG_FILE=" + filepath.Join(s.o.Dir, "none.toml"), "NO_COLOR=1",
	}
}

// StartJob starts the workflow of a job.
func (s *Stack) StartJob(ctx context.Context, job core.JobKey, policy map[string]string) error {
	input, err := json.Marshal(map[string]any{"cluster": job.Cluster, "job": job.Job, "policy": policy})
	if err != nil {
		return err
	}
	options := client.StartWorkflowOptions{ID: spec.ID(job), TaskQueue: workflows.TaskQueue, StaticSummary: "scales the Flink job " + job.Job}
	if _, err := s.Client.ExecuteWorkflow(ctx, options, workflows.ScaleName, json.RawMessage(input)); err != nil {
		return fmt.Errorf("start the workflow of %s: %w", job, err)
	}
	return nil
}

// Query asks the workflow of a job.
func (s *Stack) Query(ctx context.Context, job core.JobKey, name string, out any) error {
	answer, err := s.Client.QueryWorkflow(ctx, spec.ID(job), "", name)
	if err != nil {
		return err
	}
	return answer.Get(out)
}

// Close ends everything at once: nothing here is worth a farewell. Dir stays.
func (s *Stack) Close() error {
	var problems []error
	if s.Worker != nil {
		problems = append(problems, s.Worker.End())
	}
	if s.Client != nil {
		s.Client.Close()
	}
	if s.Server != nil {
		problems = append(problems, s.Server.Close())
	}
	return errors.Join(problems...)
}
