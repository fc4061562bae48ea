package chaos

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"go.temporal.io/api/serviceerror"

	"flinkscaler/core/spec"
	"flinkscaler/e2e/proxy"
	"flinkscaler/workflows"
)

// wound is a fault that is under way: hurt makes it, at the step, and heal ends
// it. Both may be nil.
type wound struct {
	hurt func(context.Context) error
	heal func(context.Context) error
}

// wound says how a fault is made that is not one of the network alone.
func (w *world) wound(j *job, f Fault) wound {
	switch f.Kind {
	case WorkerKill:
		return w.onTemporal(w.stack.Worker.Kill, func(ctx context.Context) error {
			return errors.Join(pause(ctx, f.Down), w.stack.Worker.Launch())
		})
	case WorkerUpgrade:
		return w.onTemporal(func() error { return w.stack.Worker.Signal(syscall.SIGTERM) }, func(ctx context.Context) error { return w.upgrade(ctx, f) })
	case ServerKill:
		return w.onTemporal(w.stack.Server.Kill, func(ctx context.Context) error {
			return errors.Join(pause(ctx, f.Down), w.stack.Server.Restart(ctx))
		})
	case JobManagerKill:
		return w.onFlink(w.cluster.hurtJobManager, func(ctx context.Context) error { return w.failover(ctx, f) })
	case TaskManagerKill:
		return w.onFlink(func(context.Context) error { return w.cluster.hurtTaskManager(f.Number) }, func(ctx context.Context) error {
			return errors.Join(pause(ctx, f.Down), w.cluster.healTaskManager(ctx))
		})
	case ParentCancel:
		return wound{
			func(ctx context.Context) error {
				w.lastWords(ctx, j)
				return w.told(ctx, func(ctx context.Context) error { return w.stack.Client.CancelWorkflow(ctx, spec.ID(j.key()), "") })
			},
			func(ctx context.Context) error { return w.succeed(ctx, j) },
		}
	case ParentTerminate:
		return wound{
			func(ctx context.Context) error {
				w.lastWords(ctx, j)
				return w.told(ctx, func(ctx context.Context) error {
					return w.stack.Client.TerminateWorkflow(ctx, spec.ID(j.key()), "", "chaos")
				})
			},
			func(ctx context.Context) error { return errors.Join(pause(ctx, f.Down), w.succeed(ctx, j)) },
		}
	case ParentRestart:
		return wound{func(ctx context.Context) error {
			w.lastWords(ctx, j)
			return w.told(ctx, func(ctx context.Context) error { return w.restart(ctx, j) })
		}, nil}
	}
	return wound{}
}

// lastWords notes what a workflow shows that is about to be ended: what it knows
// of earlier rescales ends with it.
func (w *world) lastWords(ctx context.Context, j *job) {
	var h workflows.History
	err := w.until(ctx, "the history of "+j.name, func(ctx context.Context) (string, bool) {
		err := w.query(ctx, j, workflows.QueryHistory, &h)
		return fmt.Sprint(err), err == nil
	})
	if err == nil {
		w.book.shows(j.name, h)
	}
}

// onTemporal is a wound of the worker or the server.
func (w *world) onTemporal(hurt func() error, heal func(context.Context) error) wound {
	return wound{
		func(context.Context) error { w.temporalSide.Lock(); return hurt() },
		func(ctx context.Context) error { defer w.temporalSide.Unlock(); return heal(ctx) },
	}
}

// onFlink is a wound of Flink.
func (w *world) onFlink(hurt, heal func(context.Context) error) wound {
	return wound{
		func(ctx context.Context) error { w.flinkSide.Lock(); return hurt(ctx) },
		func(ctx context.Context) error { defer w.flinkSide.Unlock(); return heal(ctx) },
	}
}

// stopLimit is how long a worker may take to hand over its work.
const stopLimit = 30 * time.Second

// upgrade starts the other build once the present one has ended.
func (w *world) upgrade(ctx context.Context, f Fault) error {
	stopping, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	return errors.Join(w.stack.Worker.Stop(stopping), w.choose(1-w.build), pause(ctx, f.Down), w.stack.Worker.Launch())
}

// failover brings the JobManager back, and the jobs where it forgot them.
func (w *world) failover(ctx context.Context, f Fault) error {
	if err := errors.Join(pause(ctx, f.Down), w.cluster.healJobManager(ctx)); err != nil || w.cluster.keeps() {
		return err
	}
	for _, j := range w.jobs {
		id := ""
		if f.SameID {
			id = w.book.lastID(j.name)
		}
		if err := w.submit(ctx, j, id); err != nil {
			return err
		}
	}
	return nil
}

// told repeats what is said to the server until it answers; a workflow that has
// ended needs no more.
func (w *world) told(ctx context.Context, say func(context.Context) error) error {
	return w.until(ctx, "the server to take it", func(ctx context.Context) (string, bool) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		err := say(ctx)
		var ended *serviceerror.NotFound
		if err == nil || errors.As(err, &ended) {
			return "", true
		}
		return err.Error(), false
	})
}

// succeed starts the workflow of a job once the one before has ended.
func (w *world) succeed(ctx context.Context, j *job) error {
	err := w.until(ctx, "the workflow to end", func(ctx context.Context) (string, bool) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		d, err := w.stack.Client.DescribeWorkflow(ctx, spec.ID(j.key()), "")
		if err != nil {
			return err.Error(), false
		}
		return "it runs", d.RawResponse.GetWorkflowExecutionInfo().GetCloseTime() != nil
	})
	if err != nil {
		return err
	}
	return w.told(ctx, func(ctx context.Context) error { return w.stack.StartJob(ctx, j.key(), w.cluster.policy(j.loaded)) })
}

// network says what the proxy does at the step.
func network(f Fault, hurt func()) proxy.Fault {
	out := proxy.Fault{Before: hurt}
	if f.Step == AtWritten {
		out = proxy.Fault{After: hurt}
	}
	late := func() { time.Sleep(f.Down) }
	answer := map[Kind]proxy.Answer{NetDrop: proxy.Dropped, Net503: proxy.Unavailable, Net409: proxy.Conflict, NetHTML: proxy.Page, NetHalf: proxy.Half}
	switch a, garbled := answer[f.Kind]; {
	case garbled:
		out.Answer, out.Lost = a, f.Step == AtWrite || f.Step == AtUndo
	case f.Kind == NetRepeat:
		out.Twice, out.Gap = true, f.Down
	case f.Kind == NetDelay && f.Step == AtWritten:
		out.After = late
	case f.Kind == NetDelay:
		out.Before = late
	}
	return out
}

// trigger is true for the first request of a job that belongs to a step. It is
// asked about every request, one after the other.
func (w *world) trigger(j *job, s Step) func(proxy.Call) bool {
	written := false
	return func(c proxy.Call) bool {
		if c.JobID == "" || w.book.jobOf(c.JobID) != j.name {
			return false
		}
		switch s {
		case AtPreflight:
			return c.Inspects()
		case AtWrite, AtWritten:
			return c.Writes()
		case AtUndo:
			return c.Writes() && !asksFor(c.Body, mostSlots)
		case AtVerify:
			written = written || c.Writes()
			return written && c.Inspects()
		}
		return false
	}
}

// asksFor is true for a write of one size for every vertex.
func asksFor(body string, size int) bool {
	r, err := requirements(body)
	return err == nil && all(r, size)
}

func (f Fault) text() string {
	return fmt.Sprintf("%s at %s of orders-%d on cluster %d", f.Kind, f.Step, f.Job+1, f.Cluster+1)
}
