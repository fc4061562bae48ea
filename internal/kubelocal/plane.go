package kubelocal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"flinkscaler/internal/child"
)

// Plane is a running control plane. Close ends it.
type Plane struct {
	options Options
	layout  layout
	started time.Time

	etcd, apiServer   *child.Process
	controllerManager *child.Process // nil without

	config     *rest.Config
	kubeconfig string
	clients    clients
	namespaces atomic.Int64 // made so far
}

// clients speak to the API server as system:masters.
type clients struct {
	typed   *kubernetes.Clientset
	dynamic *dynamic.DynamicClient
	kinds   *restmapper.DeferredDiscoveryRESTMapper
}

// tries is how often a start is tried when somebody took one of its ports between the look and the start.
const tries = 4

var errPortTaken = errors.New("port taken by another program")

// Start runs a plane and returns when it serves. ctx bounds the start only: the plane then runs until Close, or until
// this process ends.
func Start(ctx context.Context, o Options) (*Plane, error) {
	o = o.withDefaults()
	found, err := findPrograms(o)
	if err != nil {
		return nil, fmt.Errorf("start a Kubernetes control plane: %w", err)
	}
	for range tries {
		p, startErr := startOnce(ctx, o, found)
		if startErr == nil {
			return p, nil
		}
		err = startErr
		if !errors.Is(err, errPortTaken) {
			break
		}
		fmt.Fprintf(o.Log, "kubernetes: %v; starting again on other ports\n", errPortTaken)
	}
	return nil, fmt.Errorf("start a Kubernetes control plane: %w", err)
}

// startOnce leaves nothing running and no folder when it fails.
func startOnce(ctx context.Context, o Options, found programs) (*Plane, error) {
	l, err := newLayout(o)
	if err != nil {
		return nil, err
	}
	p := &Plane{options: o, layout: l, started: time.Now()}
	p.etcd = p.process("etcd", found.etcd, l.etcdArguments())
	p.apiServer = p.process("kube-apiserver", found.apiServer, l.apiServerArguments())
	if o.ControllerManager {
		p.controllerManager = p.process("kube-controller-manager", found.controllerManager, l.controllerManagerArguments(o))
	}
	if err := p.start(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// start launches etcd and the API server together: the latter asks for the former until it is there.
func (p *Plane) start(ctx context.Context) error {
	if err := p.layout.writeFiles(); err != nil {
		return err
	}
	for _, c := range []*child.Process{p.etcd, p.apiServer} {
		if err := c.Launch(); err != nil {
			return err
		}
	}
	if err := p.WaitReady(ctx); err != nil {
		return err
	}
	if err := p.connect(); err != nil {
		return err
	}
	p.say("serves at %s", p.URL())
	if err := p.InstallCRDs(ctx, p.options.CRDs...); err != nil {
		return err
	}
	if p.controllerManager == nil {
		return nil
	}
	if err := p.controllerManager.Launch(); err != nil {
		return err
	}
	if err := p.await(ctx, p.controllerManager, p.layout.controllerHealth()); err != nil {
		return err
	}
	p.say("controllers run")
	return nil
}

// connect makes the clients. The API server's certificate is its own, so it is also what it is checked with.
func (p *Plane) connect() error {
	certificate, err := os.ReadFile(p.layout.apiCertificate())
	if err != nil {
		return err
	}
	p.config = &rest.Config{
		Host: p.layout.apiURL(), BearerToken: p.layout.token, TLSClientConfig: rest.TLSClientConfig{CAData: certificate},
		QPS: -1, // tests need no protection from themselves
	}
	p.kubeconfig = p.layout.path("kubeconfig")
	if err := WriteKubeconfig(p.kubeconfig, p.config); err != nil {
		return err
	}
	if p.clients.typed, err = kubernetes.NewForConfig(p.config); err != nil {
		return err
	}
	if p.clients.dynamic, err = dynamic.NewForConfig(p.config); err != nil {
		return err
	}
	lookup, err := discovery.NewDiscoveryClientForConfig(p.config)
	if err != nil {
		return err
	}
	p.clients.kinds = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(lookup))
	return nil
}

func (p *Plane) process(name, path string, args []string) *child.Process {
	return child.New(child.Command{Name: name, Path: path, Args: args, Dir: p.layout.dir, LogDir: p.layout.dir})
}

func (p *Plane) say(format string, args ...any) {
	took := time.Since(p.started).Round(100 * time.Millisecond)
	fmt.Fprintf(p.options.Log, "kubernetes: %s after %s\n", fmt.Sprintf(format, args...), took)
}

// Config is how to reach the API server as a member of system:masters, to whom everything is allowed. It is a copy.
func (p *Plane) Config() *rest.Config { return rest.CopyConfig(p.config) }

// Kubeconfig is a file that says the same.
func (p *Plane) Kubeconfig() string { return p.kubeconfig }

// URL is the address of the API server.
func (p *Plane) URL() string { return p.layout.apiURL() }

// Dir is the plane's folder, with all logs.
func (p *Plane) Dir() string { return p.layout.dir }

// Clientset speaks to the API server as Config does.
func (p *Plane) Clientset() kubernetes.Interface { return p.clients.typed }

// Dynamic speaks to the API server as Config does, of any kind.
func (p *Plane) Dynamic() dynamic.Interface { return p.clients.dynamic }

// Etcd can be killed and launched again; it goes on with its data.
func (p *Plane) Etcd() *child.Process { return p.etcd }

// APIServer can be killed, frozen and launched again. See WaitReady.
func (p *Plane) APIServer() *child.Process { return p.apiServer }

// ControllerManager is nil when there is none.
func (p *Plane) ControllerManager() *child.Process { return p.controllerManager }

// Close ends the programs for good, each before the one that it needs, and removes the plane's folder unless it is to be
// kept. They are killed: what they would save is of no use to anybody. Closing again does nothing.
func (p *Plane) Close() error {
	var problems []error
	for _, c := range []*child.Process{p.controllerManager, p.apiServer, p.etcd} {
		if c != nil {
			problems = append(problems, c.End())
		}
	}
	if !p.options.KeepDir {
		problems = append(problems, os.RemoveAll(p.layout.dir))
	}
	return errors.Join(problems...)
}

// newLayout makes the plane's folder and picks its ports.
func newLayout(o Options) (layout, error) {
	ports, err := o.ports(4)
	if err != nil {
		return layout{}, err
	}
	dir, err := os.MkdirTemp(o.Dir, "kubernetes-")
	if err != nil {
		return layout{}, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return layout{}, err
	}
	return layout{dir: dir, etcd: ports[0], etcdPeer: ports[1], api: ports[2], controllers: ports[3], token: newToken()}, nil
}
