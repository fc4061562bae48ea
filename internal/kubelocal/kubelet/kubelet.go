package kubelet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"flinkscaler/internal/child"
	"flinkscaler/internal/kubelocal"
)

// Options say whose pods are run, and how. Plane is needed.
type Options struct {
	Plane *kubelocal.Plane
	// Namespace is where the pods are. Default: everywhere.
	Namespace string
	// Jars are on the class path of every application, as if its image held them.
	Jars []string
	// RestartDelay passes between the end of a JVM and its next start. Default 5 s.
	RestartDelay time.Duration
	// Dir is the folder in which the kubelet makes a folder of its own. Default: the system's temporary folder.
	Dir string
	// KeepDir leaves that folder, with all logs, behind.
	KeepDir bool
	// Log receives a line for each step in a pod's life. Default: nowhere.
	Log io.Writer
}

// Kubelet runs pods until Close.
type Kubelet struct {
	options Options
	dir     string
	client  kubernetes.Interface
	started time.Time
	stop    context.CancelFunc
	ended   chan struct{} // closed when the loop has ended
	saying  sync.Mutex    // one line at a time

	mu    sync.Mutex
	pods  map[types.UID]*Pod
	ports map[string]int // for the RPC of JobManagers, by namespace and label app
}

// lookEvery is how often pods are listed: well below what a start takes.
const lookEvery = 200 * time.Millisecond

// selector finds the pods of Flink clusters.
const selector = "component in (jobmanager,taskmanager)"

// Start begins to run pods.
func Start(o Options) (*Kubelet, error) {
	if o.RestartDelay == 0 {
		o.RestartDelay = 5 * time.Second
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	dir, err := os.MkdirTemp(o.Dir, "kubelet-")
	if err != nil {
		return nil, fmt.Errorf("start kubelet: %w", err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("start kubelet: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	k := &Kubelet{
		options: o, dir: dir, client: o.Plane.Clientset(), started: time.Now(),
		stop: stop, ended: make(chan struct{}), pods: map[types.UID]*Pod{}, ports: map[string]int{},
	}
	go k.loop(ctx)
	return k, nil
}

func (k *Kubelet) loop(ctx context.Context) {
	defer close(k.ended)
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		if err := k.look(ctx); err != nil && ctx.Err() == nil {
			k.say("%v", err) // the API server may be down for the moment
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// look starts what is new and ends what is to go.
func (k *Kubelet) look(ctx context.Context) error {
	list, err := k.client.CoreV1().Pods(k.options.Namespace).List(ctx, meta.ListOptions{LabelSelector: selector})
	if err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	wanted := map[types.UID]bool{}
	for _, object := range list.Items {
		if object.DeletionTimestamp == nil {
			wanted[object.UID] = true
			k.adopt(ctx, object)
		} else if k.pod(object.UID) == nil {
			k.finalize(ctx, object) // never run, or run by another one
		}
	}
	for _, pod := range k.all() {
		if !wanted[pod.object.UID] {
			pod.stop()
		}
	}
	return nil
}

func (k *Kubelet) adopt(ctx context.Context, object core.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pods[object.UID] != nil {
		return
	}
	pod := newPod(k, object)
	k.pods[object.UID] = pod
	go pod.live(ctx)
}

func (k *Kubelet) forget(uid types.UID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.pods, uid)
}

func (k *Kubelet) pod(uid types.UID) *Pod {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.pods[uid]
}

func (k *Kubelet) all() []*Pod {
	k.mu.Lock()
	defer k.mu.Unlock()
	pods := make([]*Pod, 0, len(k.pods))
	for _, pod := range k.pods {
		pods = append(pods, pod)
	}
	return pods
}

// Pods are those of a namespace that are run at the moment and have the labels, by name.
func (k *Kubelet) Pods(namespace string, labels map[string]string) []*Pod {
	pods := slices.DeleteFunc(k.all(), func(p *Pod) bool {
		return p.object.Namespace != namespace || !p.has(labels)
	})
	slices.SortFunc(pods, func(a, b *Pod) int { return strings.Compare(a.Name(), b.Name()) })
	return pods
}

// JobManager waits for the pod of a cluster's JobManager to be ready; app is its label of that name.
func (k *Kubelet) JobManager(ctx context.Context, namespace, app string) (*Pod, error) {
	var found *Pod
	err := child.WaitFor(ctx, "the JobManager of "+namespace+"/"+app, func(context.Context) (string, bool, error) {
		pods := k.Pods(namespace, map[string]string{"app": app, "component": jobManager})
		for _, pod := range pods {
			if pod.Ready() {
				found = pod
				return "", true, nil
			}
		}
		return fmt.Sprintf("%d pods, none is ready", len(pods)), false, nil
	})
	return found, err
}

// Close kills all JVMs and leaves the pods as they are.
func (k *Kubelet) Close() error {
	k.stop()
	<-k.ended
	var problems []error
	pods := k.all()
	for _, pod := range pods {
		problems = append(problems, pod.kill())
	}
	for _, pod := range pods {
		<-pod.ended
	}
	if !k.options.KeepDir {
		problems = append(problems, os.RemoveAll(k.dir))
	}
	return errors.Join(problems...)
}

func (k *Kubelet) say(format string, args ...any) {
	took := time.Since(k.started).Round(100 * time.Millisecond)
	k.saying.Lock()
	defer k.saying.Unlock()
	fmt.Fprintf(k.options.Log, "kubelet: %s after %s\n", fmt.Sprintf(format, args...), took)
}
