package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"go.temporal.io/sdk/client"

	"flinkscaler/adapters/eventlog"
	"flinkscaler/core"
	"flinkscaler/internal/config"
	"flinkscaler/internal/connect"
	"flinkscaler/internal/logging"
	"flinkscaler/internal/telemetry"
)

// start makes what does not need Temporal, and runs the worker until ctx ends.
func start(ctx context.Context, cfg config.Config, notes, environ []string, stderr io.Writer) error {
	log, err := logging.New(logging.Settings{Name: name, Level: cfg.Log.Level, Format: cfg.Log.Format, Output: stderr})
	if err != nil {
		return err
	}
	for _, n := range notes {
		log.Warn("a setting was not understood", logging.KeyNote, n)
	}
	opts, err := connect.Options(connect.Override{
		Address: cfg.Temporal.Address, Namespace: cfg.Temporal.Namespace, Profile: cfg.Temporal.Profile, Lookup: connect.Environ(environ),
	})
	if err != nil {
		return &config.Error{File: "temporal", Problems: []core.Problem{{Path: "temporal", Message: err.Error()}}}
	}
	metrics := telemetry.NewMetrics(versionText(), log, time.Now)
	defer func() { _ = metrics.Close() }()
	opts.Logger, opts.MetricsHandler = log.Temporal(), metrics.Temporal()
	p := process{cfg: cfg, log: log, opts: opts, metrics: metrics, health: &telemetry.Health{}}
	if cfg.HTTP.Listen != config.Off {
		server, err := telemetry.Serve(cfg.HTTP.Listen, telemetry.Handler(p.health, metrics.Registry), log)
		if err != nil {
			return err
		}
		defer server.Close()
		log.Info("serving health and metrics", logging.KeyAddress, "http://"+server.Address())
	}
	log.Info("starting", logging.KeyVersion, versionText(), logging.KeyAddress, opts.HostPort, logging.KeyNamespace, opts.Namespace,
		logging.KeyTaskQueue, cfg.TaskQueue, logging.KeyClusters, len(cfg.Clusters))
	err = p.run(ctx)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		// Asked to end while it still waited for something: that is no failure.
		err = nil
	}
	if err == nil {
		log.Info("stopped")
	}
	return err
}

// process is one running worker.
type process struct {
	cfg     config.Config
	log     logging.Logger
	opts    client.Options
	metrics *telemetry.Metrics
	health  *telemetry.Health
}

// run connects and works until ctx ends or the worker fails for good.
func (p *process) run(ctx context.Context) error {
	clusters, err := openClusters(p.cfg)
	if err != nil {
		return err
	}
	defer closeAll(clusters)
	for name, c := range clusters {
		go p.greet(ctx, name, c)
	}
	p.health.NotReady("Temporal at " + p.opts.HostPort + " was not reached yet")
	c, err := connect.Wait(ctx, p.opts, p.log.Logger, func(err error) { p.health.NotReady(err.Error()) })
	if err != nil {
		return err
	}
	defer c.Close()
	acts, err := newActivities(p.cfg, clusters, c, p.metrics.Decisions, newSinks(eventlog.New(p.log.Logger), clusters))
	if err != nil {
		return err
	}
	fatal := make(chan error, 1)
	w := newWorker(c, p.cfg, acts, func(err error) {
		select {
		case fatal <- err:
		default:
		}
	})
	return p.work(ctx, w, fatal, func(ctx context.Context) error {
		if _, err := c.CheckHealth(ctx, &client.CheckHealthRequest{}); err != nil {
			return fmt.Errorf("temporal at %s does not answer: %w", p.opts.HostPort, err)
		}
		return nil
	})
}

// service is the part of a worker that work needs.
type service interface {
	Start() error
	Stop()
}

// work runs a worker until ctx ends, then lets it finish what it does. A fatal
// error ends it too: what no waiting mends is for whoever started the process.
func (p *process) work(ctx context.Context, w service, fatal <-chan error, check telemetry.Check) error {
	if err := w.Start(); err != nil {
		return fmt.Errorf("start worker on task queue %s: %w", p.cfg.TaskQueue, err)
	}
	p.health.Ready(check)
	p.log.Info("working", logging.KeyAddress, p.opts.HostPort, logging.KeyNamespace, p.opts.Namespace, logging.KeyTaskQueue, p.cfg.TaskQueue)
	select {
	case err := <-fatal:
		p.health.NotReady("the worker failed: " + err.Error())
		return fmt.Errorf("worker on task queue %s: %w", p.cfg.TaskQueue, err)
	case <-ctx.Done():
	}
	p.health.NotReady("stopping")
	p.log.Info("stopping; running activities may finish, a second signal ends at once", logging.KeyTimeout, p.cfg.Limits.StopTimeout)
	w.Stop()
	return nil
}

// greet asks a cluster once, so that a wrong address shows in the first lines
// of the log. The worker runs on whatever comes of it.
func (p *process) greet(ctx context.Context, name string, c cluster) {
	v, err := c.version(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		p.log.Warn("a cluster does not answer; its jobs are left as they are until it does", logging.KeyCluster, name, logging.KeyError, err)
	default:
		p.log.Info("a cluster answers", logging.KeyCluster, name, logging.KeyVersion, v)
	}
}

func closeAll(clusters map[string]cluster) {
	for _, c := range clusters {
		c.close()
	}
}
