package k8s

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"flinkscaler/adapters/flink"
)

func podResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "pods"}
}

// worker is a pod of a TaskManager.
type worker struct {
	pod *object
	// ready is what kubelet says of it.
	ready bool
	// busy is true where a job holds a slot of it.
	busy bool
}

func (w worker) name() string { return w.pod.GetName() }

// ordinal is the number at the end of the name of a StatefulSet's pod, -1 for none.
func (w worker) ordinal() int {
	n, err := strconv.Atoi(w.name()[strings.LastIndex(w.name(), "-")+1:])
	if err != nil {
		return -1
	}
	return n
}

// workers reads the pods of a pool that are not on their way out, sorted by name.
func (p pool) workers(ctx context.Context, managers []flink.TaskManager) (found []worker, unknown []string, err error) {
	pods, err := p.cluster.list(ctx, podResource(), p.object.GetNamespace(), p.selector)
	if err != nil {
		return nil, nil, err
	}
	pods = slices.DeleteFunc(pods, func(o *object) bool {
		phase := o.text("status", "phase")
		return o.GetDeletionTimestamp() != nil || phase == "Succeeded" || phase == "Failed"
	})
	found, unknown = whose(pods, managers)
	return found, unknown, nil
}

// whose finds out which pod is which TaskManager, by name or by address. unknown
// are TaskManagers that hold tasks and cannot be found among the pods.
func whose(pods []*object, managers []flink.TaskManager) (found []worker, unknown []string) {
	addresses := map[string]int{}
	for _, o := range pods {
		addresses[o.text("status", "podIP")]++
	}
	matched := map[string]bool{}
	for _, o := range pods {
		w := worker{pod: o, ready: ready(o)}
		for _, tm := range managers {
			if !runs(o, tm, addresses) {
				continue
			}
			matched[tm.ID] = true
			w.busy = w.busy || tm.Free < tm.Slots
		}
		found = append(found, w)
	}
	for _, tm := range managers {
		if !matched[tm.ID] && tm.Free < tm.Slots {
			unknown = append(unknown, tm.ID)
		}
	}
	slices.SortFunc(found, func(a, b worker) int {
		return cmp.Or(cmp.Compare(a.ordinal(), b.ordinal()), cmp.Compare(a.name(), b.name()))
	})
	return found, unknown
}

// runs is true where a TaskManager is that of a pod: it has its name (as id, or as
// host, alone or in front of a domain), or an address that no other pod has.
func runs(o *object, tm flink.TaskManager, addresses map[string]int) bool {
	name, address := o.GetName(), o.text("status", "podIP")
	return tm.ID == name || tm.Host == name || strings.HasPrefix(tm.Host, name+".") ||
		address != "" && tm.Host == address && addresses[address] == 1
}

func ready(o *object) bool {
	conditions, _ := o.field("status", "conditions").([]any)
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok && m["type"] == "Ready" {
			return m["status"] == "True"
		}
	}
	return false
}
