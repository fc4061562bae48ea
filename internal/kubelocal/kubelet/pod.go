package kubelet

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	core "k8s.io/api/core/v1"

	"flinkscaler/internal/child"
	"flinkscaler/internal/flinklocal"
)

// Pod is a pod that is run.
type Pod struct {
	kubelet *Kubelet
	object  core.Pod
	dir     string
	stopped chan struct{} // closed when it is to end
	once    sync.Once
	ended   chan struct{} // closed when it has ended

	mu sync.Mutex
	// own is the JVM of the pod, beside the TaskManager of a native JobManager; nil until they are known.
	own, beside *child.Process
	rpc         endpoint
	rest        string
	ready       bool
}

func newPod(k *Kubelet, object core.Pod) *Pod {
	return &Pod{
		kubelet: k, object: object, dir: filepath.Join(k.dir, object.Namespace, object.Name),
		stopped: make(chan struct{}), ended: make(chan struct{}),
	}
}

// Name is the pod's.
func (p *Pod) Name() string { return p.object.Name }

// Process is its JVM, a JobManager or a TaskManager; nil before its first start.
func (p *Pod) Process() *child.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.own
}

// TaskManager is the JVM beside a native JobManager; nil for other pods, and before its first start.
func (p *Pod) TaskManager() *child.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.beside
}

// URL is the REST address of a JobManager; empty for other pods, and before its first start.
func (p *Pod) URL() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rest
}

// Ready is what the API server is told: a JobManager answers, a TaskManager runs.
func (p *Pod) Ready() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ready
}

func (p *Pod) endpoint() (endpoint, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rpc, p.rpc.port != 0
}

// has reports whether the pod has all of the labels.
func (p *Pod) has(labels map[string]string) bool {
	for key, value := range labels {
		if p.object.Labels[key] != value {
			return false
		}
	}
	return true
}

func (p *Pod) stop() { p.once.Do(func() { close(p.stopped) }) }

func (p *Pod) kill() error {
	p.stop()
	var problems []error
	for _, c := range []*child.Process{p.Process(), p.TaskManager()} {
		if c != nil {
			problems = append(problems, c.End())
		}
	}
	return errors.Join(problems...)
}

func (p *Pod) say(format string, args ...any) {
	p.kubelet.say("pod %s/%s %s", p.object.Namespace, p.object.Name, fmt.Sprintf(format, args...))
}

// live is the life of a pod, from the moment that it is seen until it is gone.
func (p *Pod) live(parent context.Context) {
	defer close(p.ended)
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	go func() {
		select {
		case <-p.stopped:
			cancel()
		case <-ctx.Done():
		}
	}()
	p.run(ctx)
	if parent.Err() != nil {
		return // Close kills what runs, so it must still know of it
	}
	p.terminate()
	p.kubelet.finalize(parent, p.object)
	p.kubelet.forget(p.object.UID)
	p.say("is gone")
}

// run returns when ctx ends.
func (p *Pod) run(ctx context.Context) {
	if !p.retry(ctx, func() error { return p.prepare(ctx) }) {
		return
	}
	var both sync.WaitGroup
	defer both.Wait()
	if beside := p.TaskManager(); beside != nil {
		both.Go(func() { p.supervise(ctx, beside, p.ignore) })
	}
	p.supervise(ctx, p.Process(), func(ctx context.Context, c condition) { p.tell(ctx, c) })
}

// retry tries until it succeeds, and reports whether it did before ctx ended.
func (p *Pod) retry(ctx context.Context, try func() error) bool {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	said := ""
	for {
		err := try()
		if err == nil {
			return true
		}
		if text := err.Error(); text != said && ctx.Err() == nil {
			said = text
			p.say("waits: %s", text)
			p.tell(ctx, condition{waiting: "ContainerCreating", message: text})
		}
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
}

func (p *Pod) ignore(context.Context, condition) {}

// tell reports to the API server until it takes it, and then, not before, whoever asks the pod.
func (p *Pod) tell(ctx context.Context, c condition) {
	for ctx.Err() == nil {
		err := p.kubelet.report(ctx, p.object, c)
		if err == nil {
			break
		}
		p.say("report: %v", err)
		pause(ctx, lookEvery)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready = c.ready
}

// pause reports whether the time has passed before ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// supervise runs a JVM, again and again when it ends, until ctx ends.
func (p *Pod) supervise(ctx context.Context, c *child.Process, tell func(context.Context, condition)) {
	for restarts := 0; ctx.Err() == nil; restarts++ {
		if err := c.Launch(); err != nil {
			p.say("start: %v", err)
		} else {
			p.say("started %s, process %d", c.Name(), c.PID())
			tell(ctx, condition{restarts: restarts})
			p.watch(ctx, c, func() { tell(ctx, condition{ready: true, restarts: restarts}) })
		}
		if ctx.Err() != nil {
			return
		}
		p.say("%s ended with exit code %d", c.Name(), c.ExitCode())
		tell(ctx, condition{waiting: "CrashLoopBackOff", message: "back-off restarting failed container", restarts: restarts + 1})
		pause(ctx, p.kubelet.options.RestartDelay)
	}
}

// watch returns when the JVM or ctx has ended. Meanwhile it says once that the JVM is ready.
func (p *Pod) watch(ctx context.Context, c *child.Process, ready func()) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for !p.serves(ctx, c) {
		select {
		case <-ctx.Done():
			return
		case <-c.Done():
			return
		case <-ticker.C:
		}
	}
	ready()
	select {
	case <-ctx.Done():
	case <-c.Done():
	}
}

// serves looks whether a JobManager's REST API answers. A TaskManager has none: as in Kubernetes, where Flink's pods have
// no probe, it counts as ready when it runs.
func (p *Pod) serves(ctx context.Context, c *child.Process) bool {
	url := p.URL()
	if url == "" || c != p.Process() {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/overview", nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// grace is what a JVM gets to end by itself. Kubernetes gives 30 s; nothing here needs more than a few.
const grace = 8 * time.Second

// terminate asks the JVMs to end, together.
func (p *Pod) terminate() {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	var all sync.WaitGroup
	for _, c := range []*child.Process{p.Process(), p.TaskManager()} {
		if c != nil {
			all.Go(func() {
				if err := c.Stop(ctx); err != nil {
					p.say("%v", err)
				}
			})
		}
	}
	all.Wait()
}

// prepare makes out what the pod runs, and writes the files for it.
func (p *Pod) prepare(ctx context.Context) error {
	if err := p.kubelet.bind(ctx, p.object); err != nil {
		return err
	}
	what, err := readProgram(p.object)
	if err != nil {
		return err
	}
	flink, err := distribution(p.object.Spec.Containers[0].Image)
	if err != nil {
		return err
	}
	given, err := p.kubelet.readConfig(ctx, p.object)
	if err != nil {
		return err
	}
	for key, value := range what.config {
		given[key] = value
	}
	rpc, err := p.locate(ctx, what, given)
	if err != nil {
		return err
	}
	config, err := localConfig(given, p.dir, rpc)
	if err != nil {
		return err
	}
	return p.build(flink, what, given, config, rpc)
}

func (p *Pod) locate(ctx context.Context, what program, config map[string]string) (endpoint, error) {
	if what.class == flinklocal.TaskManagerClass {
		return p.kubelet.findEndpoint(ctx, p.object.Namespace, config)
	}
	return p.kubelet.ownEndpoint(p.object, config)
}

// build makes the JVMs without starting them.
func (p *Pod) build(flink flinklocal.Distribution, what program, given, config map[string]string, rpc endpoint) error {
	conf := filepath.Join(p.dir, "conf")
	for _, dir := range []string{filepath.Join(p.dir, "tmp"), filepath.Join(p.dir, "log")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := flink.WriteConfig(conf, config); err != nil {
		return err
	}
	jvm := flinklocal.JVM{
		Name: jobManager, Class: what.class, ConfDir: conf, Dir: p.dir, Args: append([]string{"--configDir", conf}, what.args...),
		// Only for high availability, whose state is in ConfigMaps.
		Env: []string{"KUBECONFIG=" + p.kubelet.options.Plane.Kubeconfig()},
	}
	worker := jvm
	worker.Name, worker.Class, worker.Args = taskManager, flinklocal.TaskManagerClass, []string{"--configDir", conf}
	if what.class != flinklocal.SessionClass {
		jvm.Jars, worker.Jars = p.kubelet.options.Jars, p.kubelet.options.Jars
	}
	switch {
	case what.class == flinklocal.TaskManagerClass:
		jvm = worker
	case what.class == flinklocal.SessionClass:
		jvm.Args = append(jvm.Args, "--executionMode", "cluster")
	case what.native:
		jvm.Args = append(jvm.Args, applicationArgs(given)...)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.own = child.New(flink.Command(jvm))
	if what.native {
		p.beside = child.New(flink.Command(worker))
	}
	if what.class != flinklocal.TaskManagerClass {
		p.rpc, p.rest = rpc, "http://"+loopback+":"+restPort(given)
	}
	return nil
}
