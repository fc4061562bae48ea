package k8s

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	kube "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"flinkscaler/core"
	"flinkscaler/core/spec"
)

// What an event of ours carries besides its text.
const (
	// LabelEvent is the same for two events that say the same of one job.
	LabelEvent = "flinkscaler/event"
	// AnnotationJob is the job that it tells of, as cluster/job: an object may run
	// several.
	AnnotationJob = "flinkscaler/job"
)

// Bounds of the API server.
const (
	maxNote     = 1024
	maxInstance = 128
	maxPrefix   = 200 // of an event's name, which has a hash behind it
)

// Send writes events on the object that the job's target names, where
// `kubectl describe` shows them. Names are made from the decision and the key, so
// that what is sent again is there already. One that is told again raises the
// count of the one before and brings its text up to date. Texts are cut at 1024
// bytes, which is the API server's bound.
//
// It creates and lists events of events.k8s.io and patches those of the core
// group: only there may a text be changed. An object that is gone is written about
// all the same.
func (c *Cluster) Send(ctx context.Context, key core.JobKey, target core.Target, told []core.Event) error {
	if target.Kubernetes == nil {
		return &core.OpError{Op: "tell of job", Subject: key.String(), Err: fmt.Errorf("%w: it has no object on this cluster", core.ErrRefused)}
	}
	about, err := c.regarding(ctx, *target.Kubernetes)
	if err != nil {
		return err
	}
	for _, e := range told {
		if err := c.tell(ctx, notice{about, key, e}); err != nil {
			return err
		}
	}
	return nil
}

// regarding gives the object that events are about: its uid as well, unless it is
// gone.
func (c *Cluster) regarding(ctx context.Context, target core.KubernetesTarget) (*object, error) {
	k, ok := kinds[target.Kind]
	if !ok {
		return nil, &core.OpError{Op: "tell of job", Subject: target.Name, Err: fmt.Errorf("%w: unknown kind %q", core.ErrRefused, target.Kind)}
	}
	o, err := c.get(ctx, k.resource(), target.Namespace, target.Name)
	if !errors.Is(err, core.ErrNotFound) {
		return o, err
	}
	o = &object{&unstructured.Unstructured{}}
	o.SetGroupVersionKind(k.resource().GroupVersion().WithKind(target.Kind))
	o.SetNamespace(target.Namespace)
	o.SetName(target.Name)
	return o, nil
}

// tell writes one event, or raises the one that says the same.
func (c *Cluster) tell(ctx context.Context, n notice) error {
	if n.event.Repeated {
		before, err := c.list(ctx, events(), n.about.GetNamespace(), LabelEvent+"="+n.same())
		if err != nil {
			return err
		}
		if len(before) > 0 {
			last := slices.MaxFunc(before, func(a, b *object) int {
				return cmp.Or(lastSeen(a).Compare(lastSeen(b)), cmp.Compare(a.GetName(), b.GetName()))
			})
			return c.raise(ctx, last, n)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	_, err := c.objects.Resource(events()).Namespace(n.about.GetNamespace()).Create(ctx, n.object(), metav1.CreateOptions{FieldManager: FieldManager})
	if err != nil && !kube.IsAlreadyExists(err) {
		return translate(err, call{"create", events(), n.about.GetNamespace(), n.name()})
	}
	return nil
}

// raise counts an event that says the same as an earlier one. What that one has
// counted, or is older than what it has counted last, is known.
func (c *Cluster) raise(ctx context.Context, last *object, n notice) error {
	if last.GetAnnotations()[AnnotationDecision] == n.event.DecisionID || n.at().Before(lastSeen(last)) {
		return nil
	}
	count, err := strconv.Atoi(last.text("series", "count"))
	if err != nil {
		count = 1
	}
	return c.merge(ctx, coreEvents, last, map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{AnnotationDecision: n.event.DecisionID}},
		"message":  n.note(),
		"series":   map[string]any{"count": count + 1, "lastObservedTime": micro(n.at())},
	})
}

// notice is an event on its way to an object.
type notice struct {
	about *object
	job   core.JobKey
	event core.Event
}

// same stands for what an event says, apart from when: no number that changes
// from cycle to cycle is in its key. An object of the same name that was created
// anew is another one.
func (n notice) same() string {
	return digest(string(n.about.GetUID()), n.about.GetKind(), n.about.GetName(), n.job.String(), cmp.Or(n.event.Key, n.event.Message))
}

// name is the same for the same decision and key.
func (n notice) name() string {
	prefix := n.about.GetName()
	prefix = strings.TrimRight(prefix[:min(len(prefix), maxPrefix)], "-.")
	return prefix + "." + digest(n.same(), n.event.DecisionID)
}

func (n notice) note() string { return spec.Cut(n.event.Message, maxNote) }

func (n notice) at() time.Time {
	if n.event.At.IsZero() {
		return time.Now()
	}
	return n.event.At
}

func (n notice) object() *unstructured.Unstructured {
	kind := "Normal"
	if n.event.Warning {
		kind = "Warning"
	}
	regarding := map[string]any{
		"apiVersion": n.about.GetAPIVersion(), "kind": n.about.GetKind(), "namespace": n.about.GetNamespace(), "name": n.about.GetName(),
	}
	if uid := n.about.GetUID(); uid != "" {
		regarding["uid"], regarding["resourceVersion"] = string(uid), n.about.GetResourceVersion()
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": events().GroupVersion().String(), "kind": "Event",
		"metadata": map[string]any{
			"name": n.name(), "namespace": n.about.GetNamespace(),
			"labels":      map[string]any{LabelEvent: n.same()},
			"annotations": map[string]any{AnnotationDecision: n.event.DecisionID, AnnotationJob: n.job.String()},
		},
		"regarding": regarding, "type": kind, "reason": n.event.Reason, "note": n.note(), "action": cmp.Or(string(n.event.Kind), "report"),
		"eventTime": micro(n.at()), "reportingController": FieldManager, "reportingInstance": instance(),
	}}
}

// instance tells one worker from another, by its host.
func instance() string {
	host, err := os.Hostname()
	if err != nil {
		host = FieldManager
	}
	return host[:min(len(host), maxInstance)]
}

func micro(at time.Time) string { return at.UTC().Format(metav1.RFC3339Micro) }

// digest stands for texts in few characters.
func digest(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:8])
}
