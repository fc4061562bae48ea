package k8s

import (
	"context"
	"errors"
	"fmt"

	"flinkscaler/core"
)

// wish is the sizes that an object of the Apache operator asks for, with what the
// operator has made of them.
type wish struct {
	operated
	// asked are the overrides in the object, at is how it writes them. Those of its
	// session cluster are in force where it has none, and had been.
	asked overrides
	at    spelling
	last  reconciled
}

func wishOf(o operated) (wish, error) {
	out := wish{operated: o}
	var err error
	if out.asked, out.at, err = findOverrides(o.object.config()); err != nil {
		return out, err
	}
	if out.last, err = lastReconciled(o.object); err != nil || o.object == o.base {
		return out, err
	}
	inherited, _, err := findOverrides(o.base.config())
	if len(out.at) == 0 {
		out.asked = inherited
	}
	if len(out.last.overrides) == 0 {
		out.last.overrides = inherited
	}
	return out, err
}

// upToDate is true when the operator has carried out the object as it is.
func (o wish) upToDate() bool { return o.last.seen(o.object) == o.object.GetGeneration() }

// pending gives the size that a vertex was given and the operator has not carried
// out yet.
func (o wish) pending(id string) (int, bool) {
	n, ok := o.asked[id]
	return n, ok && !o.upToDate() && n != o.last.overrides[id]
}

// next gives the overrides to write for what is wanted: those of all vertices that
// have one, or had one, since the loss of one is a full upgrade; and of those that
// are to get another size than now. Vertices that are no more are left out.
func (o wish) next(r, now core.Requirements) overrides {
	out := overrides{}
	for _, b := range r {
		_, asked := o.asked[b.ID]
		_, had := o.last.overrides[b.ID]
		if held, _ := now.Of(b.ID); asked || had || held.Upper != b.Upper {
			out[b.ID] = b.Upper
		}
	}
	return out
}

// is is true when the object asks for exactly this, apart from vertices that are
// no more: they alone are not worth a write.
func (o wish) is(next overrides, r core.Requirements) bool {
	return o.asked.of(ids(r)).String() == next.String()
}

// restores is true when this takes back what the operator has not carried out: it
// then has nothing to do.
func (o wish) restores(next overrides, r core.Requirements) bool {
	return o.last.generation+o.last.seen(o.object) > 0 && o.last.overrides.of(ids(r)).String() == next.String()
}

func ids(r core.Requirements) []string {
	out := make([]string, 0, len(r))
	for _, b := range r {
		out = append(out, b.ID)
	}
	return out
}

// write has the object ask for sizes: the overrides key and nothing else, so that
// the operator changes sizes and nothing else.
func (o wish) write(ctx context.Context, decision string, next overrides) error {
	return o.cluster.apply(ctx, o.kind.resource(), o.object, decision, map[string]any{
		"spec": map[string]any{"flinkConfiguration": o.at.set(next.String())},
	})
}

// ready says whether the operator is in a state to take another change; nil for
// yes. What it has begun must be over: it would be mixed with ours. taking back
// what it has not begun is always right.
func (o wish) ready(restores bool) error {
	base := o.base.text("status", "jobManagerDeploymentStatus")
	switch {
	case o.object.GetDeletionTimestamp() != nil:
		return o.not(core.ErrNotReady, "it is being deleted")
	case o.object.text("status", "jobStatus", "jobId") != o.job.ID:
		return o.not(core.ErrNotFound, "the operator runs another job of it by now")
	case restores:
		return nil
	case !o.upToDate():
		return o.not(core.ErrBusy, fmt.Sprintf("the operator has not carried out generation %d yet, only %d", o.object.GetGeneration(), o.last.seen(o.object)))
	case o.object.text("status", "error") != "":
		return o.not(core.ErrNotReady, "the operator has trouble with it")
	case !o.settled() && !o.rescaling():
		return o.not(core.ErrNotReady, "the operator is at work on it")
	case base != "" && base != "READY":
		return o.not(core.ErrNotReady, "its JobManager is not ready")
	case o.object.text("status", "jobStatus", "savepointInfo", "triggerId") != "":
		return o.not(core.ErrBusy, "a savepoint is in progress")
	}
	switch o.jobState() {
	case "", "RECONCILING", "FAILED", "CANCELED", "CANCELLING", "FINISHED", "SUSPENDED":
		return o.not(core.ErrNotReady, "the operator does not see the job run")
	}
	return nil
}

// settled is true when the operator is not at work on the job.
func (o wish) settled() bool { return o.lifecycle() == "STABLE" || o.lifecycle() == "DEPLOYED" }

// rescaling is true while an operator up to 1.7 waits for a change in place to show:
// for ever where slots are missing. It takes another one meanwhile.
func (o wish) rescaling() bool {
	return o.lifecycle() == "UPGRADING" && o.last.state == "running" && o.object.text("status", "observedGeneration") == ""
}

func (o wish) not(meaning error, why string) error {
	return &core.OpError{Op: "change size", Subject: o.target.Name, Err: fmt.Errorf("%w: %s; the operator says: %s", meaning, why, o.says())}
}

// carried says how far the operator has come, by one reading of the object. That
// it says STABLE proves nothing: it says so before it begins, too.
func (o wish) carried(_ context.Context, r core.Requirements) (core.Carried, error) {
	for _, b := range r {
		if n, ok := o.asked[b.ID]; ok && n != b.Upper {
			return core.Carried{
				Reason: core.ReasonForeignWriter,
				Note:   fmt.Sprintf("somebody else changed it: the object asks for %d of vertex %s by now, not for %d", n, b.ID, b.Upper),
			}, nil
		}
	}
	if !o.upToDate() {
		return o.outstanding(fmt.Sprintf("the operator has not carried out generation %d yet, only %d", o.object.GetGeneration(), o.last.seen(o.object)))
	}
	for _, b := range r {
		_, asked := o.asked[b.ID]
		if n, ok := o.last.overrides[b.ID]; asked != ok || ok && n != b.Upper {
			return o.outstanding(fmt.Sprintf("the operator runs vertex %s at sizes of its own, %d and not %d: see whether its own autoscaler is on", b.ID, n, b.Upper))
		}
	}
	switch {
	case o.rescaling() && o.object.text("status", "error") == "":
		// Flink knows what is wanted, and the operator waits as we do.
		return core.Carried{Reason: core.ReasonNotReached, Note: "the operator waits for the size to show; it says: " + o.says()}, nil
	case o.object.text("status", "error") != "", !o.settled():
		return o.outstanding("the operator is not done")
	case o.jobState() != string(core.JobRunning):
		return o.outstanding("the operator does not see the job run")
	}
	return core.Carried{Done: true}, nil
}

func (o wish) outstanding(why string) (core.Carried, error) {
	return core.Carried{Reason: core.ReasonNotCarried, Note: why + "; the operator says: " + o.says()}, nil
}

// check refuses what Flink would not take: the operator would fall back to a full
// upgrade, or lose the job. now are the sizes in force, known the graph, which is
// empty while a job waits for slots.
func (o wish) check(r, now core.Requirements, known core.Topology) error {
	refuse := func(format string, args ...any) error {
		return &core.OpError{Op: "change size", Subject: o.target.Name, Err: fmt.Errorf("%w: "+format, append([]any{core.ErrRefused}, args...)...)}
	}
	if len(r) == 0 || len(r) != len(now) {
		return refuse("sizes of %d vertices, the job has %d", len(r), len(now))
	}
	for i, b := range r {
		held := now[i]
		switch v, ok := vertexOf(known, b.ID); {
		case b.ID != held.ID || !vertexForm.MatchString(b.ID):
			return refuse("vertex %q is none of the job, is named twice, or stands in the wrong place", cut(b.ID))
		case b.Lower != 1:
			return refuse("the lower bound of vertex %s is %d: the operator sets it, so it is 1 here", b.ID, b.Lower)
		case b.Upper < 1:
			return refuse("vertex %s cannot run at %d", b.ID, b.Upper)
		case ok && v.MaxParallelism > 0 && b.Upper > v.MaxParallelism:
			return refuse("vertex %s cannot run at %d: its max parallelism is %d", b.ID, b.Upper, v.MaxParallelism)
		case !ok && b.Upper > max(held.Upper, o.last.overrides[b.ID]):
			return o.not(core.ErrNotReady, fmt.Sprintf("it is not known whether vertex %s can run at %d", b.ID, b.Upper))
		}
	}
	return nil
}

func vertexOf(t core.Topology, id string) (core.Vertex, bool) {
	for _, v := range t.Vertices {
		if v.ID == id {
			return v, true
		}
	}
	return core.Vertex{}, false
}

// notYet turns what Flink says while its options are read anew into what it is: the
// job was found to be adaptive just now.
func notYet(err error) error {
	if errors.Is(err, core.ErrNotAdaptive) {
		return &core.OpError{Op: "read resource requirements", Err: fmt.Errorf("%w: %s", core.ErrNotReady, cut(err.Error()))}
	}
	return err
}
