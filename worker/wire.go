package main

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"flinkscaler/activities"
	"flinkscaler/adapters/eventlog"
	"flinkscaler/adapters/flink"
	"flinkscaler/adapters/k8s"
	"flinkscaler/adapters/yarn"
	"flinkscaler/core/strategy"
	"flinkscaler/internal/config"
	"flinkscaler/internal/telemetry"
	"flinkscaler/workflows"
)

// What satisfies the ports. Adapters do not know the ports; here is the one
// place where both meet.
var (
	_ activities.Platform      = (*flink.Cluster)(nil)
	_ activities.Platform      = (*k8s.Cluster)(nil)
	_ activities.Platform      = (*yarn.Cluster)(nil)
	_ activities.Carrier       = (*k8s.Cluster)(nil)
	_ activities.Carrier       = (*yarn.Cluster)(nil)
	_ activities.Holder        = (*yarn.Cluster)(nil)
	_ activities.RivalDetector = (*k8s.Cluster)(nil)
	_ activities.Room          = (*k8s.Cluster)(nil)
	_ activities.Room          = (*yarn.Cluster)(nil)
	_ activities.Redeployer    = (*flink.Cluster)(nil)
	_ activities.Redeployer    = (*yarn.Cluster)(nil)
	_ activities.Tidier        = (*yarn.Cluster)(nil)
	_ yarn.Storage             = storages{}
	_ activities.RescaleFinder = activities.Temporal{}
	_ activities.SlotAsker     = activities.Temporal{}
	_ activities.Recorder      = (*telemetry.Decisions)(nil)
	_ activities.EventSink     = (*eventlog.Sink)(nil)
	_ activities.EventSink     = (*k8s.Cluster)(nil)
	_ activities.Registry      = worker.Worker(nil)
	_ workflows.Registry       = worker.Worker(nil)
)

// cluster is one opened cluster: Flink alone, Kubernetes or YARN.
type cluster struct {
	activities.Platform
	flink      *flink.Cluster
	kubernetes *k8s.Cluster
	yarn       *yarn.Cluster
	storages   storages
}

// openClusters makes a platform of each cluster. It asks none of them
// anything.
func openClusters(cfg config.Config) (map[string]cluster, error) {
	out := make(map[string]cluster, len(cfg.Clusters))
	for _, c := range cfg.Clusters {
		opened, err := openCluster(c)
		if err == nil {
			opened.storages, err = openStorages(c)
			if opened.yarn != nil {
				opened.yarn.UseStorage(opened.storages)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("cluster %s: %w", c.Name, err)
		}
		out[c.Name] = opened
	}
	return out, nil
}

func openCluster(c config.Cluster) (cluster, error) {
	switch {
	case c.Kubernetes != nil:
		k, err := k8s.New(*c.Kubernetes)
		return cluster{Platform: k, kubernetes: k}, err
	case c.Yarn != nil:
		y, err := yarn.New(*c.Yarn)
		return cluster{Platform: y, yarn: y}, err
	}
	f, err := flink.New(c.Flink)
	return cluster{Platform: f, flink: f}, err
}

// close lets go of idle connections.
func (c cluster) close() {
	switch {
	case c.kubernetes != nil:
		c.kubernetes.Close()
	case c.yarn != nil:
		c.yarn.Close()
	default:
		c.flink.Close()
	}
}

// version asks what the cluster is.
func (c cluster) version(ctx context.Context) (string, error) {
	switch {
	case c.kubernetes != nil:
		v, err := c.kubernetes.Version(ctx)
		return "Kubernetes " + v, err
	case c.yarn != nil:
		v, err := c.yarn.Version(ctx)
		return "YARN " + v, err
	}
	v, err := c.flink.Version(ctx)
	return "Flink " + v.Flink, err
}

// plugins are those that policies may name. A worker with some of its own adds
// them here: see docs/extending.md.
func plugins() strategy.Extensions { return strategy.BuiltIn() }

// newActivities gives the activities all they need.
func newActivities(cfg config.Config, open map[string]cluster, c client.Client, r activities.Recorder, sink activities.EventSink) (*activities.Activities, error) {
	clusters := make(map[string]activities.Cluster, len(cfg.Clusters))
	for _, c := range cfg.Clusters {
		opened := open[c.Name]
		known := activities.Cluster{Platform: opened.Platform, Policy: c.Policy, Share: c.Share}
		if len(c.Flink.Redeploy.Jobs) > 0 {
			known.Redeployer = opened.flink
		}
		if y := opened.yarn; y != nil && c.Yarn.Redeploy.On() {
			known.Redeployer, known.Tidier = y, y
		}
		opened.storages.give(&known, c.KeepSavepoints)
		if k := opened.kubernetes; k != nil {
			known.Carrier, known.Rivals, known.Room = k, k, k
		}
		if y := opened.yarn; y != nil {
			known.Carrier, known.Holder, known.Room = y, y, y
		}
		clusters[c.Name] = known
	}
	return activities.New(activities.Settings{
		Clusters: clusters, Temporal: activities.Temporal{Client: c}, Slots: activities.Temporal{Client: c}, Recorder: r, Sink: sink,
		Plugins: plugins(), Now: time.Now, Place: place(), SearchAttributes: cfg.SearchAttributes, CyclesPerRun: cfg.Limits.CyclesPerRun,
	})
}

// newWorker makes a worker with everything registered. Names are given, never
// derived: they are the operators' API.
func newWorker(c client.Client, cfg config.Config, acts *activities.Activities, fatal func(error)) worker.Worker {
	worker.SetStickyWorkflowCacheSize(cfg.Limits.CachedWorkflows)
	w := worker.New(c, cfg.TaskQueue, workerOptions(cfg.Limits, fatal))
	workflows.Register(w)
	acts.Register(w)
	return w
}

func workerOptions(l config.Limits, fatal func(error)) worker.Options {
	return worker.Options{
		MaxConcurrentWorkflowTaskExecutionSize:  l.WorkflowTasks,
		MaxConcurrentActivityExecutionSize:      l.Activities,
		MaxConcurrentLocalActivityExecutionSize: l.LocalActivities,
		WorkflowTaskPollerBehavior:              worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
		ActivityTaskPollerBehavior:              worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
		WorkerStopTimeout:                       l.StopTimeout,
		DisableRegistrationAliasing:             true,
		OnFatalError:                            fatal,
	}
}
