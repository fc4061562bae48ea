//go:build e2e

package hadoop_test

import (
	"context"
	"strings"
	"testing"
	"time"
)

func states(t *testing.T) (nameNodes, resourceManagers string) {
	t.Helper()
	for _, n := range shared.NameNodes() {
		state, err := n.State(t.Context())
		must(t, err)
		nameNodes += n.ID() + " " + state + " "
	}
	for _, rm := range shared.ResourceManagers() {
		state, err := rm.State(t.Context())
		must(t, err)
		resourceManagers += state + " "
	}
	return nameNodes, resourceManagers
}

func TestShapeOfThePair(t *testing.T) {
	nameNodes, resourceManagers := states(t)
	if nameNodes != "nn1 active nn2 standby " {
		t.Errorf("NameNodes: %s", nameNodes)
	}
	if resourceManagers != "ACTIVE STANDBY " && resourceManagers != "STANDBY ACTIVE " {
		t.Errorf("ResourceManagers: %s", resourceManagers)
	}
}

// TestNameNodes: what the first one was told, the second one knows; a dead one is no loss; one that hangs answers nothing.
func TestNameNodes(t *testing.T) {
	ctx := t.Context()
	first, second := shared.NameNodes()[0], shared.NameNodes()[1]
	_, err := shared.FS(ctx, "-mkdir", "/before")
	must(t, err)
	must(t, second.Activate(ctx))
	if nameNodes, _ := states(t); nameNodes != "nn1 standby nn2 active " {
		t.Errorf("NameNodes: %s", nameNodes)
	}
	must(t, first.Kill())
	listed, err := shared.FS(ctx, "-ls", "/")
	must(t, err)
	if !strings.Contains(listed, "/before") {
		t.Errorf("the second one lists %s", listed)
	}
	must(t, first.Restart(ctx))
	must(t, first.Activate(ctx))

	must(t, second.Freeze())
	asked, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if state, err := second.State(asked); err == nil {
		t.Errorf("a frozen NameNode says %s", state)
	}
	must(t, second.Thaw())
	await(t, "the thawed one to answer", func(ctx context.Context) (string, bool) {
		state, err := second.State(ctx)
		return state, err == nil && state == "standby"
	})
}

// failOver kills the active ResourceManager: the second takes over.
func failOver(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	active, err := shared.Active(ctx)
	must(t, err)
	must(t, active.Kill())
	began := time.Now()
	await(t, "the other one to be active", func(ctx context.Context) (string, bool) {
		_, err := shared.Active(ctx)
		return "none", err == nil
	})
	t.Attr("to_the_other_ResourceManager", time.Since(began).Round(100*time.Millisecond).String())
	must(t, active.Restart(ctx))
	if state, err := active.State(ctx); err != nil || state != "STANDBY" {
		t.Errorf("the first one comes back as %s, %v", state, err)
	}
	must(t, shared.NodeManager().WaitReady(ctx))
}
