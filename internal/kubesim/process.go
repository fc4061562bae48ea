package kubesim

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"flinkscaler/internal/flinksim"
)

// process is a JobManager that runs: a simulated cluster.
type process struct {
	key     name
	uid     string // of the workload
	conf    map[string]string
	native  bool
	cluster *flinksim.Cluster // nil while a crashed one waits
	url     string
	since   time.Time
	until   time.Time // of this life, or of this pause, of one that crashes
	crashes bool
	killed  bool
}

// begin starts a JobManager. Its jobs run as soon as there are slots.
func (k *Kubelet) begin(key name, w workload, conf map[string]string) (*process, error) {
	p := &process{key: key, uid: string(w.o.GetUID()), conf: conf, native: w.isNative(), since: time.Now()}
	if err := k.boot(p); err != nil {
		return nil, err
	}
	return p, nil
}

// boot makes the simulated cluster of a process and its job.
func (k *Kubelet) boot(p *process) error {
	c := flinksim.New(settings(k.opt.Flink, p.conf, p.native))
	url, err := c.Start()
	if err != nil {
		return fmt.Errorf("start %s: %w", p.key, err)
	}
	p.cluster, p.url = c, url
	if p.conf[keyMainClass] == "" {
		c.AddJar("job.jar", func(args []string) (flinksim.JobSpec, error) {
			s := k.opt.Job(Program{Namespace: p.key.Namespace, Cluster: clusterName(p.key), Config: p.conf, Args: args})
			s.NotAdaptive = s.NotAdaptive || !isAdaptive(p.conf)
			return s, nil
		})
		return nil
	}
	if err := k.submit(p); err != nil {
		k.opt.Log("%s crashes: %v", p.key, err)
		p.crashes, p.until = true, time.Now().Add(crashLife)
	}
	return nil
}

// submit runs the program of an application cluster, from what HA kept or from
// the savepoint that the configuration names.
func (k *Kubelet) submit(p *process) error {
	s, err := sized(k.opt.Job(programOf(p.key, p.conf)), p.conf)
	if err != nil {
		return err
	}
	s.ID = p.conf[keyJobID]
	from := p.conf[keySavepoint]
	if kept := k.kept(p); hasHA(p.conf) && exists(kept) {
		from = kept
	}
	if from != "" {
		_, err = p.cluster.SubmitFrom(s, from)
	} else {
		_, err = p.cluster.Submit(s)
	}
	return err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// kept is where HA keeps the job of an application cluster.
func (k *Kubelet) kept(p *process) string {
	return filepath.Join(k.dir, p.key.Namespace, p.key.Name, p.conf[keyJobID])
}

// end stops a JobManager. With HA a job that did not end is kept.
func (k *Kubelet) end(p *process) {
	if p.cluster == nil {
		return
	}
	if hasHA(p.conf) {
		for _, v := range p.cluster.Views() {
			if v.State == "RUNNING" || v.State == "RESTARTING" || v.State == "CREATED" {
				if err := p.cluster.Keep(v.JobID, k.kept(p)); err != nil {
					k.opt.Log("%s: %v", p.key, err)
				}
			}
		}
	}
	p.cluster.Close()
	p.cluster = nil
}

// turn lets a process that crashes, or that was killed, go on with its life or
// its pause when that is due. It gives how long until the next turn; 0 for a
// process that simply runs.
func (k *Kubelet) turn(p *process) (time.Duration, error) {
	switch {
	case !p.crashes && !p.killed:
		return 0, nil
	case time.Now().Before(p.until):
		return time.Until(p.until), nil
	case p.killed:
		return 0, k.revive(p)
	case p.cluster != nil:
		p.cluster.Close()
		p.cluster, p.until = nil, time.Now().Add(crashPause)
		return crashPause, nil
	}
	if err := k.boot(p); err != nil {
		return 0, err
	}
	return time.Until(p.until), nil
}

// revive starts a killed JobManager again: with HA its jobs go on, without it
// an application is run from the begin.
func (k *Kubelet) revive(p *process) error {
	p.killed = false
	defer p.cluster.SetUnavailable(flinksim.Available)
	if hasHA(p.conf) {
		p.cluster.Recover()
		return nil
	}
	p.cluster.Forget()
	if p.conf[keyMainClass] == "" {
		return nil
	}
	return k.submit(p)
}
