package kubesim

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// retryAfter is how long a step that failed waits.
const retryAfter = time.Second

// workers of a loop: a step may wait for Flink, and the others must not.
const workers = 16

// loop calls step for a key whenever an object that belongs to it moved, and
// again after the time that step asks for; 0 means not before the next event.
// One key is never worked on twice at once.
type loop struct {
	api        *api
	namespaces []string // all when empty
	step       func(ctx context.Context, key name) (time.Duration, error)
	log        func(format string, args ...any)

	queue workqueue.TypedDelayingInterface[name]
	wait  sync.WaitGroup
}

// source is a kind of object to look at, and which keys each belongs to.
type source struct {
	resource resource
	selector string
	keys     func(o *object) []name
	// onSpec leaves out changes of the status: those are one's own.
	onSpec bool
}

// matters is false for a change that nobody waits for.
func (s source) matters(before, after any) bool {
	a, isA := before.(*object)
	b, isB := after.(*object)
	return !s.onSpec || !isA || !isB || a.GetGeneration() != b.GetGeneration() || (a.GetDeletionTimestamp() == nil) != (b.GetDeletionTimestamp() == nil)
}

func itself(o *object) []name { return []name{nameOf(o)} }

// start begins with what is there. The loop ends with the context; done waits
// for it.
func (l *loop) start(ctx context.Context, sources ...source) error {
	l.queue = workqueue.NewTypedDelayingQueue[name]()
	namespaces := l.namespaces
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	var synced []cache.InformerSynced
	for _, s := range sources {
		for _, ns := range namespaces {
			i := l.informer(s, ns)
			synced = append(synced, i.HasSynced)
			l.wait.Go(func() { i.Run(ctx.Done()) })
		}
	}
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		return fmt.Errorf("kubesim: watch: %w", ctx.Err())
	}
	for range workers {
		l.wait.Go(func() {
			for l.next(ctx) {
			}
		})
	}
	l.wait.Go(func() {
		<-ctx.Done()
		l.queue.ShutDown()
	})
	return nil
}

func (l *loop) done() { l.wait.Wait() }

func (l *loop) informer(s source, namespace string) cache.SharedIndexInformer {
	r := l.api.Resource(s.resource).Namespace(namespace)
	i := cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.LabelSelector = s.selector
			return r.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.LabelSelector = s.selector
			return r.Watch(ctx, o)
		},
	}, &object{}, 0, cache.Indexers{})
	add := func(x any) {
		if gone, isGone := x.(cache.DeletedFinalStateUnknown); isGone {
			x = gone.Obj
		}
		if o, isObject := x.(*object); isObject {
			for _, k := range s.keys(o) {
				l.queue.Add(k)
			}
		}
	}
	// The only error is that of an informer that has ended.
	_, _ = i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, DeleteFunc: add, UpdateFunc: func(before, after any) {
		if s.matters(before, after) {
			add(after)
		}
	}})
	return i
}

// soon has a key looked at.
func (l *loop) soon(key name) { l.queue.Add(key) }

func (l *loop) next(ctx context.Context) bool {
	key, over := l.queue.Get()
	if over {
		return false
	}
	defer l.queue.Done(key)
	again, err := l.step(ctx, key)
	if err != nil && !errors.Is(err, context.Canceled) {
		l.log("%s: %v", key, err)
		again = retryAfter
	}
	if again > 0 {
		l.queue.AddAfter(key, again)
	}
	return true
}
