//go:build e2e

package yarn_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"flinkscaler/adapters/yarn"
	"flinkscaler/core"
	"flinkscaler/e2e/hadoop"
)

// watch looks at a job until done, and fails the test where it is called gone, or
// another, or refused. It gives how often each other failure was seen.
func watch(t *testing.T, c *yarn.Cluster, what string, done func(core.JobRef, core.Measurement) bool) map[core.Reason]int {
	t.Helper()
	seen := map[core.Reason]int{}
	began := time.Now()
	await(t, what, func(ctx context.Context) (string, bool, error) {
		ref, err := c.Locate(ctx, named("orders"))
		var m core.Measurement
		if err == nil {
			m, err = c.Measure(ctx, ref, nil)
		}
		if err != nil {
			if seen[core.ReasonFor(err)]++; seen[core.ReasonFor(err)] == 1 {
				t.Log(err)
			}
			for _, e := range []error{core.ErrNotFound, core.ErrAmbiguous, core.ErrRefused, core.ErrUnauthorized, core.ErrNotFlink} {
				if errors.Is(err, e) {
					t.Errorf("after %s: %v", time.Since(began), err)
				}
			}
			return err.Error(), false, nil
		}
		seen["located"]++
		return fmt.Sprint(m.Status.State), done(ref, m), nil
	})
	t.Logf("%s after %s: %v", what, time.Since(began).Round(100*time.Millisecond), seen)
	return seen
}

// TestResourceManagerFailover: the job is measurable all the time, or there is no
// leader; the other ResourceManager is found by itself.
func TestResourceManagerFailover(t *testing.T) {
	stage := yarn.OnStage()
	app := stage.Orders(t)
	c := onStage(t, nil)
	before, err := c.Locate(t.Context(), named("orders"))
	must(t, err)
	active, err := stage.Active(t.Context())
	must(t, err)
	must(t, active.Kill())
	watch(t, c, "the other ResourceManager shows the application where it was", func(ref core.JobRef, m core.Measurement) bool {
		if ref.ID != before.ID {
			t.Errorf("the job is %s, it was %s", ref.ID, before.ID)
		}
		status, err := app.Status(t.Context())
		return err == nil && status.State == "RUNNING" && m.Status.AllTasksRunning()
	})
	must(t, active.Restart(t.Context()))
}

// TestResourceManagersRestarted: with all of them gone and back, and the application
// shown as ACCEPTED without an address for a while, it is found at its last one.
func TestResourceManagersRestarted(t *testing.T) {
	stage := yarn.OnStage()
	app := stage.Orders(t)
	c := onStage(t, nil)
	_, err := c.Locate(t.Context(), named("orders"))
	must(t, err)
	for _, rm := range stage.ResourceManagers() {
		must(t, rm.Kill())
	}
	if _, err := c.Locate(t.Context(), named("no such application")); !errors.Is(err, core.ErrUnreachable) {
		t.Errorf("without any ResourceManager: %v; want unreachable", err)
	}
	for _, rm := range stage.ResourceManagers() {
		must(t, rm.Launch())
	}
	watch(t, c, "the application is shown as running again", func(core.JobRef, core.Measurement) bool {
		status, err := app.Status(t.Context())
		return err == nil && status.State == "RUNNING"
	})
	for _, rm := range stage.ResourceManagers() {
		must(t, rm.WaitReady(t.Context()))
	}
}

// TestApplicationMasterKilled: with HA the same job comes back at another address,
// with its requirements.
func TestApplicationMasterKilled(t *testing.T) {
	stage := yarn.OnStage()
	app := stage.Orders(t)
	c := onStage(t, nil)
	before, err := c.Locate(t.Context(), named("orders"))
	must(t, err)
	wanted, err := c.Wanted(t.Context(), before)
	must(t, err)
	old, err := app.Status(t.Context())
	must(t, err)
	must(t, stage.KillAM(app.ID))
	watch(t, c, "the job runs at another address", func(ref core.JobRef, m core.Measurement) bool {
		if ref.ID != before.ID {
			t.Errorf("the job is %s, it was %s", ref.ID, before.ID)
		}
		now, err := app.Status(t.Context())
		return err == nil && now.Address != "" && now.Address != old.Address && m.Status.AllTasksRunning()
	})
	after, err := c.Wanted(t.Context(), before)
	must(t, err)
	if fmt.Sprint(after) != fmt.Sprint(wanted) {
		t.Errorf("wanted %v, before %v", after, wanted)
	}
}

// TestApplicationMasterKilledWithoutHA: a second attempt is the same application with
// another job; it is never called gone, and the old job is.
func TestApplicationMasterKilledWithoutHA(t *testing.T) {
	stage := yarn.OnStage()
	stage.Orders(t)
	f, err := stage.Flink(t.Context(), hadoop.FlinkOptions{})
	must(t, err)
	app, err := f.Submit(t.Context(), hadoop.Application{
		Name: "returns", Tags: []string{"fa-returns"}, Args: hadoop.JobArgs(stage.Rates()), Options: map[string]string{"yarn.application-attempts": "2"},
	})
	must(t, err)
	c := onStage(t, nil)
	target := core.Target{Yarn: &core.YarnTarget{ApplicationTag: "fa-returns"}}
	before, err := c.Locate(t.Context(), target)
	must(t, err)
	must(t, stage.KillAM(app.ID))
	seen := map[core.Reason]int{}
	await(t, "the second attempt to run a job", func(ctx context.Context) (string, bool, error) {
		ref, err := c.Locate(ctx, target)
		if err == nil {
			seen["located"]++
			return ref.ID, ref.ID != before.ID, nil
		}
		if seen[core.ReasonFor(err)]++; seen[core.ReasonFor(err)] == 1 {
			t.Log(err)
		}
		return err.Error(), false, nil
	})
	t.Logf("seen %v", seen)
	if seen[core.ReasonJobGone] > 0 {
		t.Errorf("called gone %d times", seen[core.ReasonJobGone])
	}
	if _, err := c.Status(t.Context(), before); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("status of the first attempt's job: %v; want not found", err)
	}
	must(t, app.Kill(t.Context()))
	await(t, "the application to be gone", func(ctx context.Context) (string, bool, error) {
		_, err := c.Locate(ctx, target)
		return fmt.Sprint(err), errors.Is(err, core.ErrNotFound), nil
	})
}
