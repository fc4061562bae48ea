package kubesim

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"strings"
)

// revision is one state of a FlinkCluster's spec that was seen, kept as a
// ControllerRevision.
type revision struct {
	name   string // CLUSTER-HASH
	number int64
	spec   map[string]any
}

// String is the revision as the status names it: CLUSTER-HASH-NUMBER.
func (r revision) String() string { return fmt.Sprintf("%s-%d", r.name, r.number) }

// hash is the label of what was made for it.
func (r revision) hash() string { return r.name[strings.LastIndexByte(r.name, '-')+1:] }

// revisable is a spec without what makes no revision of it.
func revisable(spec map[string]any) map[string]any {
	out := clone(spec)
	if j := asMap(out["job"]); j != nil {
		for _, key := range []string{"cleanupPolicy", "restartPolicy", "cancelRequested", "savepointGeneration", "savepointFormatType"} {
			delete(j, key)
		}
	}
	return out
}

// newRevision names a spec by a hash of it.
func newRevision(cluster string, number int64, spec map[string]any) revision {
	b, err := json.Marshal(spec) // keys are sorted
	if err != nil {
		panic(err) // it came from JSON
	}
	h := fnv.New32a()
	_, _ = h.Write(b)
	return revision{fmt.Sprintf("%s-%08x", cluster, h.Sum32()), number, spec}
}

// update says what a change from one revision to the next asks for.
type update int

const (
	nothing update = iota
	scaleUpdate
	fullUpdate
)

// updateBetween follows the operator: on a cluster with a job, a change of
// taskManager alone in which the replicas differ is a change of size, whatever
// else of taskManager differs.
func updateBetween(before, after map[string]any) update {
	var changed []string
	for key := range unionKeys(before, after) {
		if !reflect.DeepEqual(before[key], after[key]) {
			changed = append(changed, key)
		}
	}
	switch {
	case len(changed) == 0:
		return nothing
	case after["job"] != nil && slices.Equal(changed, []string{"taskManager"}) &&
		asInt(asMap(before["taskManager"])["replicas"]) != asInt(asMap(after["taskManager"])["replicas"]):
		return scaleUpdate
	}
	return fullUpdate
}

func unionKeys(a, b map[string]any) map[string]bool {
	out := map[string]bool{}
	for k := range a {
		out[k] = true
	}
	for k := range b {
		out[k] = true
	}
	return out
}

// revisions of a cluster, oldest first.
func (o *ClusterOperator) revisions(ctx context.Context, c *object) ([]revision, error) {
	all, err := o.api.list(ctx, revisions, c.GetNamespace(), "cluster="+c.GetName())
	if err != nil {
		return nil, err
	}
	var out []revision
	for i := range all {
		if isOwnedBy(&all[i], c) {
			out = append(out, revision{all[i].GetName(), int64(nestedInt(&all[i], "revision")), clone(asMap(nested(&all[i], "data")))})
		}
	}
	slices.SortFunc(out, func(a, b revision) int { return int(a.number - b.number) })
	return out, nil
}

// remember makes the spec as it is now the newest revision, unless it is. A
// spec that was there before gets a new number.
func (o *ClusterOperator) remember(ctx context.Context, c *object, known []revision) ([]revision, error) {
	next := newRevision(c.GetName(), 1, revisable(asMap(nested(c, "spec"))))
	if n := len(known); n > 0 {
		if known[n-1].name == next.name {
			return known, nil
		}
		next.number = known[n-1].number + 1
	}
	for i, r := range known {
		if r.name == next.name {
			known = slices.Delete(known, i, i+1)
			err := o.api.patch(ctx, revisions, name{Namespace: c.GetNamespace(), Name: r.name}, map[string]any{"revision": next.number})
			return append(known, next), err
		}
	}
	_, err := o.api.create(ctx, revisions, map[string]any{
		"apiVersion": "apps/v1", "kind": "ControllerRevision",
		"metadata": map[string]any{
			"name": next.name, "namespace": c.GetNamespace(), "ownerReferences": []any{owner(c)},
			"labels": map[string]any{"app": "flink", "cluster": c.GetName(), "flinkoperator.k8s.io/managed-by": c.GetName()},
		},
		"revision": next.number, "data": next.spec,
	})
	return append(known, next), err
}
