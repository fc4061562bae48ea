package kubesim

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"
)

// note is what an operator says of a resource in an Event.
type note struct {
	component, reason, message string
	warning                    bool
}

// tell records a core/v1 Event on an object. The same words again raise the
// count of the Event that is there.
func (a *api) tell(ctx context.Context, about *object, n note) error {
	level := "Normal"
	if n.warning {
		level = "Warning"
	}
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, about.GetUID(), level, n.reason, n.message)
	key := name{Namespace: about.GetNamespace(), Name: fmt.Sprintf("%s.%d", n.component, h.Sum32())}
	now := time.Now().UTC().Format(time.RFC3339)
	have, err := a.get(ctx, coreEvents, key)
	if err != nil {
		return err
	}
	if have != nil {
		return a.patch(ctx, coreEvents, key, map[string]any{"count": nestedInt(have, "count") + 1, "lastTimestamp": now})
	}
	_, err = a.create(ctx, coreEvents, map[string]any{
		"apiVersion": "v1", "kind": "Event",
		"metadata": map[string]any{"name": key.Name, "namespace": key.Namespace},
		"involvedObject": map[string]any{
			"apiVersion": about.GetAPIVersion(), "kind": about.GetKind(), "name": about.GetName(),
			"namespace": about.GetNamespace(), "uid": string(about.GetUID()),
		},
		"type": level, "reason": n.reason, "message": n.message, "count": int64(1),
		"source":         map[string]any{"component": n.component},
		"firstTimestamp": now, "lastTimestamp": now,
	})
	return err
}
