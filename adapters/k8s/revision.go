package k8s

import (
	"context"
	"fmt"
	"strings"

	"flinkscaler/core"
)

// AnnotationRevision holds the revision of a FlinkCluster before our last change of
// its job. The operator shows the old revision for a moment after a change, as if
// all was done; this tells the two apart.
const AnnotationRevision = "flinkscaler/revision-before"

// revised is a FlinkCluster, whose operator has no observedGeneration: a change is
// a new revision, and under way until that is the current one.
type revised struct{ o *object }

func (r revised) current() string { return r.o.text("status", "revision", "currentRevision") }

func (r revised) next() string { return r.o.text("status", "revision", "nextRevision") }

// busy: two changes in quick succession can be mixed up, for the operator compares
// the last two revisions.
func (r revised) busy() string {
	switch {
	case r.next() == "" || r.current() == "":
		return "the operator has not shown a revision of the FlinkCluster yet"
	case r.next() != r.current():
		return fmt.Sprintf("the operator is on its way from revision %s to %s", r.current(), r.next())
	case r.unseen():
		return "the operator has not seen the last change yet"
	}
	return ""
}

// unseen is true for a change of ours of which the operator shows nothing yet.
func (r revised) unseen() bool {
	before := r.o.GetAnnotations()[AnnotationRevision]
	return before != "" && before == r.next()
}

// come: the TaskManagers are those asked for, and the revision is the current one.
func (r revised) come(_ context.Context, p pool) (core.Carried, error) {
	if why := r.busy(); why != "" {
		return outstanding("%s", why), nil
	}
	there, ready, state := r.count("replicas"), r.count("readyReplicas"), r.o.text("status", "components", "taskManager", "state")
	if there != p.asked || ready < p.asked || !strings.EqualFold(state, "Ready") {
		return outstanding("%d of %d TaskManagers are ready (%s)", min(ready, there), p.asked, orUnknown(state)), nil
	}
	return core.Carried{Done: true}, nil
}

func (r revised) count(what string) int {
	return r.o.number("status", "components", "taskManager", what)
}

// outstanding is what is still on its way to Flink.
func outstanding(format string, args ...any) core.Carried {
	return core.Carried{Reason: core.ReasonNotCarried, Note: fmt.Sprintf(format, args...)}
}

func orUnknown(s string) string {
	if s == "" {
		return "state unknown"
	}
	return s
}
