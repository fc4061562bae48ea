package kubetest

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"strconv"
	"testing"

	"sigs.k8s.io/yaml"

	"flinkscaler/e2e/testjob"
	"flinkscaler/internal/child"
	"flinkscaler/internal/flinklocal"
	"flinkscaler/internal/toolcache"
)

// Deployment is a FlinkDeployment that works on this plane.
type Deployment struct {
	// Name is that of the resource, and so of the cluster.
	Name string
	// Job is what it runs; nil for a session cluster.
	Job *Job
	// Port of its REST API; no two may have the same.
	Port int
	// Dir holds its checkpoints and savepoints.
	Dir string
	// Slots of its TaskManager.
	Slots int
	// HA keeps what the JobManager knows in ConfigMaps.
	HA bool
	// Config overrides or adds entries of spec.flinkConfiguration. Values may be nested.
	Config map[string]any
	// Spec overrides or adds fields of the spec.
	Spec map[string]any
}

// Job is the test job of package testjob.
type Job struct {
	// Rates is the file that its arrivals follow.
	Rates string
	// Splits of its source; default 12. Its max parallelism is 24, a record costs 1 ms.
	Splits int
	// Parallelism; default 1.
	Parallelism int
	// UpgradeMode is savepoint by default.
	UpgradeMode string
	// Args are more of the test job's arguments.
	Args []string
}

// Application is a FlinkDeployment that runs the test job, with a port, a folder and a rate file of its own.
func Application(t testing.TB, name string) (Deployment, *flinklocal.RateFile) {
	t.Helper()
	d := Session(t, name)
	rates, err := flinklocal.NewRateFile(filepath.Join(d.Dir, "rates"))
	if err != nil {
		t.Fatal(err)
	}
	d.Job = &Job{Rates: rates.Path()}
	return d, rates
}

// Session is a FlinkDeployment without a job, with a port and a folder of its own.
func Session(t testing.TB, name string) Deployment {
	t.Helper()
	ports, err := child.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	return Deployment{Name: name, Port: ports[0], Dir: t.TempDir(), Slots: 8}
}

// URL is the REST address of its JobManager.
func (d Deployment) URL() string { return "http://127.0.0.1:" + strconv.Itoa(d.Port) }

// Manifest is what to apply.
func (d Deployment) Manifest() string {
	spec := map[string]any{
		"image": "flink:" + toolcache.FlinkOperated, "flinkVersion": "v1_18", "serviceAccount": "flink",
		"flinkConfiguration": d.configuration(),
		"jobManager":         map[string]any{"resource": map[string]any{"memory": "1024m", "cpu": 0.5}},
		"taskManager":        map[string]any{"resource": map[string]any{"memory": "1024m", "cpu": 0.5}},
	}
	if d.Job != nil {
		job := d.Job.spec(d.Name)
		job["jarURI"] = "local:///opt/flink/usrlib/job.jar"
		spec["job"] = job
	}
	maps.Copy(spec, d.Spec)
	return manifest("FlinkDeployment", d.Name, spec)
}

// configuration makes Flink and the operator's client act within seconds. For a job's first slots Flink waits as long as
// it does by itself: see internal/flinklocal.
func (d Deployment) configuration() map[string]any {
	const scheduler = "jobmanager.adaptive-scheduler."
	config := map[string]any{
		"rest.port": strconv.Itoa(d.Port), "taskmanager.numberOfTaskSlots": strconv.Itoa(d.Slots),
		"jobmanager.scheduler":                       "adaptive",
		scheduler + "resource-stabilization-timeout": "1 s",
		scheduler + "scaling-interval.min":           "1 s",
		scheduler + "scaling-interval.max":           "2 s",
		scheduler + "min-parallelism-increase":       "1",
		"web.refresh-interval":                       "1000",
		"web.timeout":                                "10000",
		"metrics.fetcher.update-interval":            "1000",
		"rest.retry.max-attempts":                    "3", // else the operator is busy for a minute with a JobManager that is gone
		"rest.retry.delay":                           "500",
		"heartbeat.interval":                         "1000",
		"heartbeat.timeout":                          "6000",
		"execution.checkpointing.interval":           "5s",
		"state.checkpoints.dir":                      "file://" + filepath.Join(d.Dir, "checkpoints"),
		"state.savepoints.dir":                       "file://" + filepath.Join(d.Dir, "savepoints"),
		"restart-strategy":                           "fixed-delay",
		"restart-strategy.fixed-delay.attempts":      "1000000",
		"restart-strategy.fixed-delay.delay":         "500 ms",
	}
	if d.HA {
		config["high-availability.type"] = "kubernetes"
		config["high-availability.storageDir"] = "file://" + filepath.Join(d.Dir, "ha")
	}
	maps.Copy(config, d.Config)
	return config
}

func (j Job) spec(name string) map[string]any {
	args := []string{"--rate-file", j.Rates, "--splits", strconv.Itoa(cmp.Or(j.Splits, 12)), "--max-parallelism", "24", "--name", name}
	return map[string]any{
		"entryClass": testjob.MainClass, "parallelism": max(j.Parallelism, 1), "upgradeMode": cmp.Or(j.UpgradeMode, "savepoint"),
		"args": append(args, j.Args...),
	}
}

// SessionJob is a FlinkSessionJob on a session cluster.
type SessionJob struct {
	Name string
	// Deployment is the name of the FlinkDeployment.
	Deployment string
	Job        Job
	// Config is spec.flinkConfiguration.
	Config map[string]any
}

// Manifest is what to apply.
func (j SessionJob) Manifest(t testing.TB) string {
	t.Helper()
	jar, err := testjob.Jar()
	if err != nil {
		t.Fatal(err)
	}
	job := j.Job.spec(j.Name)
	job["jarURI"] = "file://" + jar
	spec := map[string]any{"deploymentName": j.Deployment, "job": job}
	if len(j.Config) > 0 {
		spec["flinkConfiguration"] = j.Config
	}
	return manifest("FlinkSessionJob", j.Name, spec)
}

func manifest(kind, name string, spec map[string]any) string {
	content, err := yaml.Marshal(map[string]any{
		"apiVersion": "flink.apache.org/v1beta1", "kind": kind, "metadata": map[string]any{"name": name}, "spec": spec,
	})
	if err != nil {
		panic(fmt.Sprintf("a map of texts and numbers has no YAML: %v", err))
	}
	return string(content)
}
