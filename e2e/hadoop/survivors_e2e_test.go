//go:build e2e

package hadoop_test

import (
	"testing"

	"flinkscaler/e2e/hadoop"
)

// This test is the last one, by the name of its file: what it leaves behind is for Close.

// TestAFlinkApplicationThroughAllOfIt: it grows in place, its JobManager dies, the ResourceManager dies; no record is
// lost or doubled, for then the job would fail for good.
func TestAFlinkApplicationThroughAllOfIt(t *testing.T) {
	ctx := t.Context()
	var flink *hadoop.Flink
	timed(t, "home and upload", func() (err error) { flink, err = shared.Flink(ctx, hadoop.FlinkOptions{HA: true}); return err })
	var app *hadoop.App
	timed(t, "submission", func() (err error) {
		app, err = flink.Submit(ctx, hadoop.Application{Name: "orders", Tags: []string{"fa-orders"}, Args: hadoop.JobArgs(arrivals(t, 300))})
		return err
	})
	active, err := shared.Active(ctx)
	must(t, err)
	sameShape(t, active.URL()+"/ws/v1/cluster/apps/"+app.ID, "app-running.200.json")
	jobID, err := app.JobID(ctx)
	must(t, err)
	timed(t, "growth in place", func() error { rescale(t, app, 2); return nil })

	must(t, shared.KillAM(app.ID))
	must(t, app.Wait(ctx, "without a JobManager", func(s hadoop.AppStatus) bool { return s.Address == "" }))
	timed(t, "return of the job", func() error { return app.WaitRunning(ctx) })
	if again, err := app.JobID(ctx); err != nil || again != jobID {
		t.Errorf("the job is %s after its JobManager died, %v; it was %s", again, err, jobID)
	}
	failOver(t)
	timed(t, "YARN's memory of it", func() error {
		return app.Wait(ctx, "known again", func(s hadoop.AppStatus) bool { return s.State == "RUNNING" && s.Address != "" })
	})
	must(t, app.WaitRunning(ctx))

	// Containers outlive their NodeManager. Close must find them; TestMain looks.
	must(t, shared.NodeManager().Kill())
	left, err := shared.Containers()
	must(t, err)
	if len(left) < 3 {
		t.Errorf("%d containers outlive the NodeManager; want the JobManager and two TaskManagers: %+v", len(left), left)
	}
}
