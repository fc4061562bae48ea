package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/client"

	"flinkscaler/core"
	"flinkscaler/core/spec"
	"flinkscaler/e2e/proxy"
	"flinkscaler/internal/child"
	"flinkscaler/workflows"
)

// patience is how long anything may take: a rescale that is hit by faults of
// other jobs as well, on a busy machine.
const patience = 5 * time.Minute

// until waits for a condition, for as long as patience lasts.
func (w *world) until(ctx context.Context, what string, look func(context.Context) (string, bool)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return child.WaitFor(ctx, what, func(ctx context.Context) (string, bool, error) {
		state, done := look(ctx)
		return state, done, nil
	})
}

// pause waits, unless ctx ends before.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return errors.Join(ctx.Err(), errors.New("while something was down"))
	case <-t.C:
		return nil
	}
}

// mostStuck is after how many faults in a row that a job did not recover from the
// rest of its faults are left out.
const mostStuck = 2

// drive injects the faults of a job, one after the other.
func (w *world) drive(ctx context.Context, j *job, faults []Fault, done func(Fault, End, time.Duration)) {
	stuck := 0
	for _, f := range faults {
		if stuck == mostStuck || ctx.Err() != nil {
			return
		}
		began := time.Now()
		e := w.one(ctx, j, f)
		if ctx.Err() != nil {
			return
		}
		w.book.ended(e)
		if stuck++; e.Stuck == "" {
			stuck = 0
		}
		done(f, e, time.Since(began))
	}
}

// one injects one fault, and gives how the job is once it is healed.
func (w *world) one(ctx context.Context, j *job, f Fault) End {
	e := End{Job: j.name, Fault: f}
	if err := w.ready(ctx, j); err != nil {
		e.Stuck = err.Error()
		return e
	}
	// hurt, which runs in the proxy, is followed by heal here.
	hit, wound := make(chan error, 1), w.wound(j, f)
	var hurt func()
	times := f.Times
	if wound.hurt != nil {
		hurt, times = func() { hit <- wound.hurt(ctx) }, 1
	}
	rule := w.proxy.Arm(w.trigger(j, f.Step), network(f, hurt), times)
	defer w.proxy.Disarm(rule)
	wanted, err := w.provoke(ctx, j, f)
	if err == nil {
		err = w.strike(ctx, f, rule, hurt)
	}
	if err != nil && j.loaded && ctx.Err() == nil {
		// What happened to others may have brought the job to its size before its load
		// did; then the load goes back.
		rule = w.proxy.Arm(w.trigger(j, f.Step), network(f, hurt), times)
		defer w.proxy.Disarm(rule)
		if wanted, err = w.provoke(ctx, j, f); err == nil {
			err = w.strike(ctx, f, rule, hurt)
		}
	}
	e.Injected = err == nil
	if err == nil && hurt != nil {
		err = w.mend(ctx, wound, <-hit)
	}
	if err == nil && j.fails {
		err = w.relent(ctx, j, f)
	}
	if err != nil {
		e.Stuck = err.Error()
		return e
	}
	s, v, err := w.rest(ctx, j, "after the fault", wanted)
	e.At, e.Last, e.Runs = time.Now(), s.LastRescale, v.Runs
	for _, x := range s.Vertices {
		e.Told = append(e.Told, core.VertexSize{ID: x.ID, Parallelism: x.Parallelism})
	}
	slices.SortFunc(e.Told, bySizeID)
	if err != nil {
		e.Stuck = err.Error()
	}
	return e
}

// ready waits until a job is at rest. A size at which a fault had it fail is
// avoided for a quarter of an hour and more: then the load would bring no rescale,
// and a new workflow, which knows nothing of that, takes over.
func (w *world) ready(ctx context.Context, j *job) error {
	s, _, err := w.rest(ctx, j, "before the fault", j.carries)
	if err != nil || s.Reason != core.ReasonFailedBefore {
		return err
	}
	w.lastWords(ctx, j)
	if err := w.told(ctx, func(ctx context.Context) error { return w.restart(ctx, j) }); err != nil {
		return err
	}
	_, _, err = w.rest(ctx, j, "under a new workflow", j.carries)
	return err
}

// strike waits for the step: what the proxy does then is the fault.
func (w *world) strike(ctx context.Context, f Fault, rule *proxy.Rule, hurt func()) error {
	if f.Step == AtOrder {
		hurt()
		return nil
	}
	err := w.until(ctx, "a rescale to be at "+string(f.Step), func(context.Context) (string, bool) { return "it is not", rule.Began() })
	w.proxy.Disarm(rule)
	if rule.Began() {
		return nil
	}
	return err
}

// mend heals what was hurt, also where hurting it failed half-way.
func (w *world) mend(ctx context.Context, wound wound, hurt error) error {
	if wound.heal == nil {
		return hurt
	}
	return errors.Join(hurt, wound.heal(ctx))
}

// relent orders a size at which the job does not fail: otherwise it is made to try
// again and again.
func (w *world) relent(ctx context.Context, j *job, f Fault) error {
	v, err := w.look(ctx, j)
	if err != nil {
		return err
	}
	return w.order(ctx, j, f.BySignal, Order{Parallelism: mostSlots - 1, Had: v.Held})
}

// wish says whether a job has come to what it was to come to.
type wish func(workflows.Status, view) bool

// provoke has a rescale begin, and says what the job must come to.
func (w *world) provoke(ctx context.Context, j *job, f Fault) (wish, error) {
	v, err := w.look(ctx, j)
	if err != nil {
		return nil, err
	}
	size := mostSlots
	switch {
	case j.loaded:
		return w.load(j, v)
	case j.fails: // and is ordered to another size once it was hit
		return func(_ workflows.Status, v view) bool { return v.at(mostSlots - 1) }, w.order(ctx, j, f.BySignal, Order{Parallelism: size, Had: v.Held, Ended: f.endsParent()})
	case len(v.Held) > 0:
		size = 2 + (v.Held[0].Upper-1)%3 // 1, 2, 3, 4, and 2 again
	}
	lives := w.book.lived(j.name)
	return func(s workflows.Status, v view) bool {
		// An order ends with the workflow that took it: then only the rescale under
		// way goes on, and where it does not succeed, or Flink forgets it, nobody tries
		// again.
		alone := f.endsParent() && s.Override == nil && s.LastRescale != nil
		return v.at(size) || alone && (s.LastRescale.Kind != core.Applied || w.book.lived(j.name) != lives)
	}, w.order(ctx, j, f.BySignal, Order{Parallelism: size, Had: v.Held, Ended: f.endsParent()})
}

// load turns the load up or down.
func (w *world) load(j *job, v view) (wish, error) {
	j.high = !j.high
	w.book.needs(Need{Job: j.name, Since: time.Now(), Least: least(v, j.load())})
	if err := w.cluster.rate(j.name, j.load()); err != nil {
		return nil, err
	}
	return j.carries, nil
}

// carries is true for a job that runs at a size for its load: where it is low, it
// is too low for three subtasks, unless fewer failed before. A job that is ordered
// about carries its load at any size.
func (j *job) carries(s workflows.Status, v view) bool {
	p, _ := core.FindSize(v.Runs, v.worker())
	switch {
	case !j.loaded:
		return true
	case j.high:
		return v.AllRun && p >= least(v, j.load())[v.worker()]
	}
	return v.AllRun && (p < 3 || s.Reason == core.ReasonFailedBefore)
}

// order gives an order until it is accepted; it has one id whatever becomes of
// the answer.
func (w *world) order(ctx context.Context, j *job, bySignal bool, o Order) error {
	j.orders++
	o.Job, o.ID, o.Sent = j.name, fmt.Sprintf("%s-%d", j.name, j.orders), time.Now()
	body := map[string]any{"parallelism": o.Parallelism, "by": "chaos"}
	err := w.told(ctx, func(ctx context.Context) error {
		if bySignal {
			body["id"] = o.ID
			return w.stack.Client.SignalWorkflow(ctx, spec.ID(j.key()), "", workflows.MsgOverride, body)
		}
		h, err := w.stack.Client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
			UpdateID: o.ID, WorkflowID: spec.ID(j.key()), UpdateName: workflows.MsgOverride, WaitForStage: client.WorkflowUpdateStageCompleted,
			Args: []any{body},
		})
		if err != nil {
			return err
		}
		return h.Get(ctx, nil)
	})
	if err == nil {
		w.book.ordered(o)
	}
	return err
}

func bySizeID(a, b core.VertexSize) int {
	switch {
	case a.ID < b.ID:
		return -1
	case a.ID > b.ID:
		return 1
	}
	return 0
}

// rest waits until a job is as wanted, no rescale is open, and what the workflow
// tells is what Flink shows; then its history is noted.
func (w *world) rest(ctx context.Context, j *job, when string, wanted wish) (workflows.Status, view, error) {
	var (
		s workflows.Status
		v view
		h workflows.History
	)
	err := w.until(ctx, j.name+" to be at rest "+when, func(ctx context.Context) (string, bool) {
		var err error
		var now workflows.Status
		if err := w.query(ctx, j, workflows.QueryStatus, &now); err != nil {
			return err.Error(), false // the worker or the server may be down
		}
		s = now
		if v, err = look(ctx, w.cluster.url(), j.name); err != nil {
			return err.Error(), false
		}
		state := fmt.Sprintf("%s %s (%s), rescale open: %v; %s", s.State, s.Reason, s.Note, s.Rescale != nil, v.text())
		if !wanted(s, v) || s.Rescale != nil || s.FlinkJobID != v.ID || !v.AllRun || !tells(s, v) {
			return state, false
		}
		if err := w.query(ctx, j, workflows.QueryHistory, &h); err != nil {
			return err.Error(), false
		}
		return "", true
	})
	if err == nil {
		w.book.shows(j.name, h)
		return s, v, nil
	}
	if ctx.Err() == nil {
		w.say("%s is stuck: %v\nhistory: %s\n%s", j.name, err, w.history(ctx, j), w.stack.Worker.Tail())
	}
	return s, v, err
}

// lay pauses every job and notes what its history shows: a load, or what happened
// to another job, may have brought a rescale since its own last fault.
func (w *world) lay(ctx context.Context) {
	for _, j := range w.jobs {
		err := w.told(ctx, func(ctx context.Context) error {
			return w.stack.Client.SignalWorkflow(ctx, spec.ID(j.key()), "", workflows.MsgPause, nil)
		})
		if err == nil {
			_, _, err = w.rest(ctx, j, "at the end", func(s workflows.Status, _ view) bool { return s.Pause != nil })
		}
		if err != nil {
			w.book.ended(End{Job: j.name, Stuck: err.Error()})
		}
	}
}

// tells is true when the workflow knows what Flink shows.
func tells(s workflows.Status, v view) bool {
	if len(s.Vertices) != len(v.Runs) {
		return false
	}
	for _, x := range s.Vertices {
		if p, ok := core.FindSize(v.Runs, x.ID); !ok || p != x.Parallelism {
			return false
		}
	}
	return true
}

// history is what the workflow shows of a job, for people.
func (w *world) history(ctx context.Context, j *job) string {
	var h workflows.History
	if err := w.query(ctx, j, workflows.QueryHistory, &h); err != nil {
		return err.Error()
	}
	b, _ := json.MarshalIndent(h, "", " ")
	return string(b)
}
