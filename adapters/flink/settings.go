package flink

import (
	"context"
	"errors"
	"maps"
	"time"

	"flinkscaler/adapters/flink/shared"
	"flinkscaler/core"
)

// What Flink uses where its configuration says nothing.
const (
	defaultFetchInterval = 10 * time.Second
	defaultHeartbeat     = 10 * time.Second
)

// rarely is how long answers are kept that change with a restart of the
// JobManager at most.
const rarely = time.Minute

// recently is how old an answer may be on which a decision rests, when several
// jobs want it.
const recently = 5 * time.Second

// maxConfigs bounds the configurations kept; far more jobs than one cluster
// runs.
const maxConfigs = 4096

// Version is what the cluster says about itself.
type Version struct {
	// Flink is the version, such as "2.3.0".
	Flink string
	// Revision is the build.
	Revision string
	// Refresh is how old an answer about a job may be (web.refresh-interval).
	Refresh time.Duration
	// WebRescale is true where the cluster's own UI may rescale a job.
	WebRescale bool
	// WebSubmit is true where jobs can be submitted over REST, as on session clusters.
	WebSubmit bool
}

// Version asks what the cluster is: the cheapest sign that it is Flink. It
// answers without a leader, so it is no sign that jobs can be read.
func (c *Cluster) Version(ctx context.Context) (Version, error) {
	return c.version.Get(ctx, rarely, func(ctx context.Context) (Version, error) {
		return fetch(ctx, c, request{op: "read version", path: "/v1/config"}, decodeVersion)
	})
}

func decodeVersion(b []byte) (Version, error) {
	body, err := fromJSON[struct {
		Version  string `json:"flink-version"`
		Revision string `json:"flink-revision"`
		Refresh  int64  `json:"refresh-interval"`
		Features struct {
			WebRescale bool `json:"web-rescale"`
			WebSubmit  bool `json:"web-submit"`
		} `json:"features"`
	}](b)
	if err != nil {
		return Version{}, err
	}
	if body.Version == "" {
		return Version{}, errors.New(`no "flink-version" in the answer`)
	}
	refresh := time.Duration(min(max(body.Refresh, 0), time.Hour.Milliseconds())) * time.Millisecond
	return Version{
		Flink: body.Version, Revision: body.Revision, Refresh: refresh, WebRescale: body.Features.WebRescale, WebSubmit: body.Features.WebSubmit,
	}, nil
}

// settings are the cluster's options that matter to how it is read.
type settings struct {
	// fetch is how often the JobManager fetches metrics at most.
	fetch time.Duration
	// heartbeat is how often a TaskManager reports.
	heartbeat time.Duration
}

// readSettings gives the options, or Flink's defaults where they cannot be
// read.
func (c *Cluster) readSettings(ctx context.Context) settings {
	config, _ := c.config.GetOrLast(ctx, rarely, c.loadConfig)
	return settingsOf(config)
}

// ClusterOptions gives the options that the JobManager was started with, as Flink shows
// them, a few seconds old at most: what was set, no defaults.
func (c *Cluster) ClusterOptions(ctx context.Context) (map[string]string, error) {
	config, err := c.config.Get(ctx, recently, c.loadConfig)
	return maps.Clone(config), err
}

func (c *Cluster) loadConfig(ctx context.Context) (map[string]string, error) {
	return fetch(ctx, c, request{op: "read cluster configuration", path: "/v1/jobmanager/config"}, decodeConfig)
}

func settingsOf(config map[string]string) settings {
	s := settings{fetch: defaultFetchInterval, heartbeat: defaultHeartbeat}
	if d, ok := parseDuration(config["metrics.fetcher.update-interval"]); ok {
		s.fetch = d
	}
	if d, ok := parseDuration(config["heartbeat.interval"]); ok && d > 0 {
		s.heartbeat = d
	}
	return s
}

// jobConfig gives the job's configuration as Flink shows it, at most a minute
// old, or the last one known where it cannot be read; nil when there was none.
func (c *Cluster) jobConfig(ctx context.Context, job string) map[string]string {
	config, _ := c.configOf(job).GetOrLast(ctx, rarely, c.loadJobConfig(job))
	return maps.Clone(config)
}

// JobOptions gives the options that a job runs with, as Flink shows them, a few
// seconds old at most: what was set, no defaults. Those that the cluster was started
// with are among them.
func (c *Cluster) JobOptions(ctx context.Context, job core.JobRef) (map[string]string, error) {
	config, err := c.configOf(job.ID).Get(ctx, recently, c.loadJobConfig(job.ID))
	return maps.Clone(config), err
}

func (c *Cluster) loadJobConfig(job string) func(context.Context) (map[string]string, error) {
	r := request{op: "read job configuration", subject: job, path: jobPath(job, "/jobmanager/config")}
	return func(ctx context.Context) (map[string]string, error) { return fetch(ctx, c, r, decodeConfig) }
}

func (c *Cluster) configOf(job string) *shared.Answer[map[string]string] {
	c.configMu.Lock()
	defer c.configMu.Unlock()
	if s, ok := c.configs[job]; ok {
		return s
	}
	if len(c.configs) >= maxConfigs {
		clear(c.configs) // jobs that are long gone; the others are read again
	}
	s := &shared.Answer[map[string]string]{}
	c.configs[job] = s
	return s
}

// decodeConfig reads a list of keys and values. It is never nil.
func decodeConfig(b []byte) (map[string]string, error) {
	body, err := fromJSON[*[]struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	}](b)
	if err != nil {
		return nil, err
	}
	if body == nil {
		return nil, errors.New("a list of keys and values expected")
	}
	out := make(map[string]string, len(*body))
	for _, e := range *body {
		out[e.Key] = e.Value
	}
	return out, nil
}
