package kubelocal

import (
	"io"
	"os"
	"time"

	"flinkscaler/internal/child"
	"flinkscaler/internal/toolcache"
)

// Options say what plane to run. The zero value is etcd and an API server.
type Options struct {
	// ControllerManager runs kube-controller-manager too, with the controllers of Controllers.
	ControllerManager bool
	// Controllers are the long names of the controllers to run. Default: DefaultControllers.
	Controllers []string
	// CRDs are manifests of custom resource definitions that are served when Start returns. Controllers look for new kinds
	// every 30 s only, so what they are to act on soon is better defined here than later. See OperatorCRDs.
	CRDs []string

	// Dir is the folder in which the plane makes a folder of its own. Default: the system's temporary folder.
	Dir string
	// KeepDir leaves that folder, with all logs, behind.
	KeepDir bool
	// Log receives a line for each step of starting up. Default: nowhere.
	Log io.Writer
	// WaitTimeout bounds each wait for a program to be ready. Default 3 min: it takes seconds, unless everything else on
	// the machine starts as well.
	WaitTimeout time.Duration

	// ports finds free ports, child.FreePorts when nil.
	ports func(count int) ([]int, error)
}

// DefaultControllers are those that act on workloads, and none that needs nodes.
func DefaultControllers() []string {
	return []string{
		"deployment-controller", "replicaset-controller", "statefulset-controller", "job-controller",
		"horizontal-pod-autoscaler-controller", "disruption-controller", "resourcequota-controller",
		"garbage-collector-controller", "namespace-controller", "serviceaccount-controller",
	}
}

// programs are the paths of what is run.
type programs struct{ etcd, apiServer, controllerManager string }

func findPrograms(o Options) (programs, error) {
	cache, err := toolcache.Open()
	if err != nil {
		return programs{}, err
	}
	var p programs
	if p.etcd, err = cache.FindEtcd(); err != nil {
		return p, err
	}
	if p.apiServer, err = cache.FindKubeAPIServer(); err != nil {
		return p, err
	}
	if o.ControllerManager {
		p.controllerManager, err = cache.FindKubeControllerManager()
	}
	return p, err
}

func (o Options) withDefaults() Options {
	if len(o.Controllers) == 0 {
		o.Controllers = DefaultControllers()
	}
	if o.Dir == "" {
		o.Dir = os.TempDir()
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.WaitTimeout == 0 {
		o.WaitTimeout = 3 * time.Minute
	}
	if o.ports == nil {
		o.ports = child.FreePorts
	}
	return o
}
