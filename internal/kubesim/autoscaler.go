package kubesim

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"strings"
	"time"
)

// Keys of the operator's own autoscaler, in both spellings.
func isAutoscaled(conf map[string]string) bool {
	return strings.EqualFold(conf["job.autoscaler.enabled"], "true") ||
		strings.EqualFold(conf["kubernetes.operator.job.autoscaler.enabled"], "true")
}

func scalesItself(conf map[string]string) bool {
	return !strings.EqualFold(conf["job.autoscaler.scaling.enabled"], "false") &&
		!strings.EqualFold(conf["kubernetes.operator.job.autoscaler.scaling.enabled"], "false")
}

// Decide has the operator's own autoscaler come to a decision at its next look
// at a resource, if it is switched on there: the parallelism of vertices by id.
func (o *Operator) Decide(namespace, resource string, parallelism map[string]int) {
	key := name{Namespace: namespace, Name: resource}
	o.mu.Lock()
	o.decided[key] = maps.Clone(parallelism)
	o.mu.Unlock()
	o.loop.soon(key)
	o.jobs.soon(key)
}

func (o *Operator) decision(s *subject) map[string]int {
	o.mu.Lock()
	defer o.mu.Unlock()
	d := o.decided[s.key()]
	delete(o.decided, s.key())
	return d
}

func autoscalerName(s *subject) name {
	return name{Namespace: s.o.GetNamespace(), Name: "autoscaler-" + s.o.GetName()}
}

// autoscalerMap makes the ConfigMap of the autoscaler, which is there and empty
// also where it is off.
func (o *Operator) autoscalerMap(ctx context.Context, s *subject) error {
	n := autoscalerName(s)
	_, err := o.api.create(ctx, configMaps, map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{
			"name": n.Name, "namespace": n.Namespace, "ownerReferences": []any{owner(s.o)},
			"labels": map[string]any{"app": s.o.GetName(), "component": "autoscaler"},
		},
	})
	return err
}

// overlay is what the operator's autoscaler does at each look: it decides, if
// it does, and lays its overrides over those of the spec, in memory. Switched
// off it forgets them.
func (o *Operator) overlay(ctx context.Context, s *subject) error {
	if s.job() == nil || s.reconciled == nil {
		return nil
	}
	m, err := o.api.get(ctx, configMaps, autoscalerName(s))
	if err != nil || m == nil {
		return err
	}
	conf := o.effective(s.spec)
	data := asMap(nested(m, "data"))
	if !isAutoscaled(conf) {
		if len(data) == 0 {
			return nil
		}
		return o.api.patch(ctx, configMaps, nameOf(m), map[string]any{"data": nil})
	}
	kept, _ := data["parallelismOverrides"].(string)
	own, err := parseOverrides(kept)
	if err != nil {
		return err
	}
	news, err := o.consider(ctx, s, conf, own)
	if err != nil {
		return err
	}
	if err := o.api.patch(ctx, configMaps, nameOf(m), map[string]any{"data": news}); err != nil {
		return err
	}
	return o.layOver(s, conf, own)
}

// consider turns a decision that is due into overrides and Events. It gives
// what goes into the ConfigMap.
func (o *Operator) consider(ctx context.Context, s *subject, conf map[string]string, own map[string]int) (map[string]any, error) {
	news := map[string]any{"collectedMetrics": packed(fmt.Sprintf("---\n%q:\n  vertexMetrics: {}\n", time.Now().UTC().Format(time.RFC3339Nano)))}
	due := o.decision(s)
	if len(due) == 0 {
		return news, nil
	}
	have, err := o.flink(s).parallelisms(ctx, s.status.Job.ID)
	if err != nil {
		return news, err
	}
	report := o.report(scalesItself(conf), have, due)
	if err := o.api.tell(ctx, s.o, note{"Operator", "ScalingReport", report, false}); err != nil {
		return news, err
	}
	if scalesItself(conf) {
		maps.Copy(own, have)
		maps.Copy(own, due)
		news["parallelismOverrides"] = formatOverrides(own)
		news["scalingHistory"] = packed("---\n{}\n")
		if !o.old() {
			news["configOverrides"] = "---\noverrides: {}\nremovals: []\n"
			news["scalingTracking"] = packed("---\nscalingRecords: {}\n")
		}
	}
	return news, nil
}

// report is the text of a decision.
func (o *Operator) report(acts bool, have, want map[string]int) string {
	var b strings.Builder
	for _, pair := range strings.Split(formatOverrides(want), ",") {
		id, n, _ := strings.Cut(pair, ":")
		fmt.Fprintf(&b, " Vertex ID %s | Parallelism %d -> %s | Processing capacity 1000.00 -> 2000.00 | Target data rate 1500.00", id, have[id], n)
	}
	switch {
	case o.old() && acts:
		return "Scaling vertices:" + b.String()
	case o.old():
		return "Recommended parallelism change:" + b.String()
	case acts:
		return "Scaling execution enabled, begin scaling vertices:{" + b.String() + "}"
	}
	return "Scaling execution disabled by config job.autoscaler.scaling.enabled:false, recommended parallelism change:{" + b.String() + "}"
}

// layOver lets the autoscaler's numbers win over the spec's, vertex by vertex.
// A map that says the same as the one reconciled last keeps its wording.
func (o *Operator) layOver(s *subject, conf map[string]string, own map[string]int) error {
	if len(own) == 0 {
		return nil
	}
	all, err := parseOverrides(conf[keyOverrides])
	if err != nil {
		return nil //nolint:nilerr // the spec's own value comes to nothing later
	}
	excluded := strings.Split(conf["job.autoscaler.vertex.exclude.ids"], ";")
	for id, n := range own {
		if !contains(excluded, id) {
			all[id] = n
		}
	}
	value := formatOverrides(all)
	last := flatten(asMap(s.reconciled.Spec["flinkConfiguration"]))[keyOverrides]
	if before, err := parseOverrides(last); err == nil && maps.Equal(before, all) {
		value = last
	}
	c := asMap(s.spec["flinkConfiguration"])
	if c == nil {
		c = map[string]any{}
		s.spec["flinkConfiguration"] = c
	}
	removeKey(c, strings.Split(keyOverrides, "."))
	c[keyOverrides] = value
	return nil
}

func contains(list []string, x string) bool {
	for _, e := range list {
		if e == x {
			return true
		}
	}
	return false
}

// removeKey takes a key away that may be spelled nested.
func removeKey(c map[string]any, parts []string) {
	for i := range parts {
		head := strings.Join(parts[:i+1], ".")
		if i == len(parts)-1 {
			delete(c, head)
		} else if below := asMap(c[head]); below != nil {
			removeKey(below, parts[i+1:])
		}
	}
}

// packed is how the autoscaler keeps most of its data.
func packed(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text)) // a buffer takes everything
	_ = z.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}
