package kubesim

import (
	"strings"
	"time"

	"flinkscaler/internal/flinksim"
)

// Program is what a simulated JobManager is told to run, or what is uploaded to
// a session cluster.
type Program struct {
	Namespace, Cluster string
	// Config is the cluster's configuration, all keys flat.
	Config map[string]string
	// Args of the main method.
	Args []string
}

// DefaultJob is a source and a vertex behind it that does 1000 records/s per
// subtask, both at the default parallelism.
func DefaultJob(p Program) flinksim.JobSpec {
	return flinksim.JobSpec{
		Name: p.Cluster,
		Vertices: []flinksim.VertexSpec{
			{Name: "Source: numbers", Capacity: 20000},
			{Name: "work", Capacity: 1000, Inputs: []flinksim.Input{{From: "Source: numbers", Ship: "HASH"}}},
		},
	}
}

// programOf reads what an application cluster is told to run.
func programOf(key name, conf map[string]string) Program {
	p := Program{Namespace: key.Namespace, Cluster: clusterName(key), Config: conf}
	for arg := range strings.SplitSeq(conf[keyArguments], ";") {
		if arg != "" {
			p.Args = append(p.Args, arg)
		}
	}
	return p
}

// sized gives a program's job the sizes that the configuration asks for. An
// override that is no number is the error that ends a real JobManager.
func sized(s flinksim.JobSpec, conf map[string]string) (flinksim.JobSpec, error) {
	overrides, err := parseOverrides(conf[keyOverrides])
	if err != nil {
		return s, err
	}
	if len(s.Vertices) == 0 {
		s.Vertices = flinksim.DefaultVertices()
	}
	for i := range s.Vertices {
		v := &s.Vertices[i]
		if v.ID == "" {
			v.ID = flinksim.VertexID(v.Name)
		}
		if v.Parallelism == 0 {
			v.Parallelism = number(conf, keyParallelism, 1)
		}
		if n, overridden := overrides[v.ID]; overridden {
			v.Parallelism = n
		}
	}
	s.NotAdaptive = s.NotAdaptive || !isAdaptive(conf)
	return s, nil
}

// settings are those of a simulated cluster with a configuration.
func settings(o flinksim.Options, conf map[string]string, native bool) flinksim.Options {
	if o.Version == "" {
		o.Version = flinksim.Flink120
	}
	if port := conf[keyRestPort]; port != "" {
		o.Addr = "127.0.0.1:" + port
	}
	o.Reactive = isReactive(conf)
	o.SlotsPerTaskManager = number(conf, keySlots, 1)
	if !native {
		o.Slots = -1 // as many as TaskManagers bring
	}
	if o.CheckpointInterval == 0 {
		o.CheckpointInterval = span(conf, "execution.checkpointing.interval", -1)
	}
	shown := map[string]string{keyScheduler: conf[keyScheduler]}
	for k, v := range conf {
		if !strings.HasPrefix(k, "$internal.") {
			shown[k] = v
		}
	}
	for k, v := range o.Config {
		shown[k] = v
	}
	o.Config = shown
	return o
}

// hasHA is true when a JobManager's successor finds its jobs.
func hasHA(conf map[string]string) bool {
	kind := conf["high-availability.type"]
	if kind == "" {
		kind = conf["high-availability"]
	}
	return kind != "" && !strings.EqualFold(kind, "NONE")
}

// crashPause is how long a container that ended waits until it is started
// again, and crashLife how long it lives then.
const (
	crashPause = 2 * time.Second
	crashLife  = 500 * time.Millisecond
)
