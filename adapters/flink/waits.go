package flink

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"flinkscaler/core"
)

// Slots counts the cluster's slots. They are all slots of the cluster, whoever
// asks; Flink's own count may be a second or two behind a change.
func (c *Cluster) Slots(ctx context.Context, job core.JobRef) (core.Slots, error) {
	s, err := fetch(ctx, c, request{op: "count slots", path: "/v1/overview"}, decodeSlots)
	if err != nil {
		return core.Slots{}, err
	}
	s.Elastic = elastic(c.jobConfig(ctx, job.ID))
	return s, nil
}

func decodeSlots(b []byte) (core.Slots, error) {
	body, err := fromJSON[struct {
		Total *int `json:"slots-total"`
		Free  *int `json:"slots-available"`
	}](b)
	switch {
	case err != nil:
		return core.Slots{}, err
	case body.Total == nil || body.Free == nil:
		return core.Slots{}, errors.New(`no "slots-total" and "slots-available" in the answer`)
	}
	return core.Slots{Total: max(0, *body.Total), Free: max(0, *body.Free)}, nil
}

// elastic is true where Flink asks Kubernetes or YARN for TaskManagers. A
// cluster of a Kubernetes operator's standalone mode looks the same: it is then
// tried, and shows itself what comes of it.
func elastic(config map[string]string) bool {
	target := config["execution.target"]
	return strings.HasPrefix(target, "kubernetes-") || strings.HasPrefix(target, "yarn-") ||
		config["kubernetes.cluster-id"] != "" || config["yarn.application.id"] != ""
}

// What Flink uses where its configuration says nothing.
const (
	defaultCooldown      = 30 * time.Second
	defaultStabilization = time.Minute
	defaultSettle        = 10 * time.Second
	defaultResourceWait  = 5 * time.Minute
	defaultFailures      = 2
)

// Waits gives how long Flink waits around a rescale: from the scheduler itself
// where it tells (2.3), else from the options and Flink's defaults. Options that
// were given with the job alone are not shown by Flink.
func (c *Cluster) Waits(ctx context.Context, job core.JobRef) (core.Waits, error) {
	interval, err := c.checkpointInterval(ctx, job)
	if err != nil {
		return core.Waits{}, err
	}
	old := false
	if v, err := c.Version(ctx); err == nil {
		old = strings.HasPrefix(v.Flink, "1.")
	}
	w := waitsOf(c.jobConfig(ctx, job.ID), interval, old)
	told, ok, err := c.RescaleTimings(ctx, job)
	if ok && err == nil {
		w = core.Waits{Cooldown: told.Cooldown, Stabilization: told.Stabilization, MaxDelay: told.MaxDelay, Settle: told.Settle, ResourceWait: told.ResourceWait}
	}
	return w, nil
}

// checkpointInterval is 0 for a job that takes no checkpoints.
func (c *Cluster) checkpointInterval(ctx context.Context, job core.JobRef) (time.Duration, error) {
	var health core.JobHealth
	r := request{op: "read checkpoint settings", subject: job.ID, path: jobPath(job.ID, "/checkpoints/config")}
	_, err := fetch(ctx, c, r, func(b []byte) (struct{}, error) { return struct{}{}, decodeCheckpointing(b, &health) })
	if errors.Is(err, errNoCheckpoints) {
		return 0, nil
	}
	return health.Interval, err
}

// waitsOf reads the options. Flink 2.0 renamed them all; before it, a rescale
// waits for no checkpoint and, where nothing is said, not for more slots.
func waitsOf(config map[string]string, interval time.Duration, old bool) core.Waits {
	read := func(otherwise time.Duration, names ...string) time.Duration {
		for _, n := range names {
			if d, ok := parseDuration(config["jobmanager.adaptive-scheduler."+n]); ok {
				return d
			}
		}
		return otherwise
	}
	w := core.Waits{
		Cooldown:     read(defaultCooldown, "executing.cooldown-after-rescaling", "scaling-interval.min"),
		Settle:       read(defaultSettle, "submission.resource-stabilization-timeout", "resource-stabilization-timeout"),
		ResourceWait: read(defaultResourceWait, "submission.resource-wait-timeout", "resource-wait-timeout"),
	}
	if old {
		w.Stabilization = read(0, "scaling-interval.max")
		return w
	}
	w.Stabilization = read(defaultStabilization, "executing.resource-stabilization-timeout", "scaling-interval.max")
	failures := defaultFailures
	for _, n := range []string{"rescale-trigger.max-checkpoint-failures", "scale-on-failed-checkpoints-count"} {
		if i, err := strconv.Atoi(strings.TrimSpace(config["jobmanager.adaptive-scheduler."+n])); err == nil && i > 0 {
			failures = i
			break
		}
	}
	w.MaxDelay = read(times(interval, failures+1), "rescale-trigger.max-delay", "max-delay-for-scale-trigger")
	return w
}

// mostDelay bounds what is computed of a checkpoint interval: some are set to
// days, to take checkpoints on demand alone.
const mostDelay = 24 * time.Hour

func times(d time.Duration, n int) time.Duration {
	if n > 0 && d > mostDelay/time.Duration(n) {
		return mostDelay
	}
	return d * time.Duration(n)
}
