package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"flinkscaler/core"
	"flinkscaler/core/spec"
	"flinkscaler/starter/view"
	"flinkscaler/workflows"
)

func newWatch(a *app) *cobra.Command {
	every := period(2 * time.Second)
	cmd := a.jobCommand(&cobra.Command{
		Use: "watch JOB", GroupID: groupLook, Short: "Show a job live, until Ctrl-C",
		Long: `Show a job live: load, lag and parallelism of every vertex, the decision with its
reason, how far a rescale is, and the time to the next evaluation. On a terminal the view is redrawn in
place; elsewhere a line is written for every change. Ctrl-C ends it.`,
		Example: `  flinkscaler watch dev/orders
  flinkscaler watch dev/orders --every 10s >> orders.log`,
	}, func(s *session, ctx context.Context, key core.JobKey) error {
		return s.watch(ctx, key, time.Duration(every))
	})
	cmd.Flags().Var(&every, "every", "how often to look")
	return cmd
}

// shower takes what a watch sees.
type shower interface {
	Show(s workflows.Status, p *view.Progress) error
	Trouble(why string) error
	Close() error
}

func (s *session) watch(ctx context.Context, key core.JobKey, every time.Duration) (err error) {
	e, err := s.describe(ctx, key)
	if err != nil {
		return err
	}
	if !e.running() {
		return s.explain(ctx, key, e, errEnded)
	}
	show := s.shower()
	defer func() {
		if closeErr := show.Close(); err == nil {
			err = closeErr
		}
	}()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if done, err := s.watchOnce(ctx, key, e, show); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (s *session) shower() shower {
	if s.json() {
		return &jsonShower{enc: json.NewEncoder(s.out)}
	}
	return view.NewLive(s.out, view.Options{Terminal: s.outTerminal, Colour: s.colour(), Size: s.size, Now: s.now})
}

// watchOnce looks once. What may pass (no worker, no server) is shown and
// waited out; the end of the workflow ends the watch.
func (s *session) watchOnce(ctx context.Context, key core.JobKey, e execution, show shower) (done bool, err error) {
	st, err := s.status(ctx, spec.ID(key))
	// Describe needs no worker: it tells a silent worker from a silent server.
	now, descErr := s.peek(ctx, key)
	if ctx.Err() != nil {
		return true, nil
	}
	if errors.Is(err, errNoWorker) && errors.Is(descErr, errUnreachable) {
		err = descErr
	}
	switch {
	case err == nil:
		err = show.Show(st, s.progress(ctx, st))
	case errors.Is(err, errNoWorker), errors.Is(err, errUnreachable):
		err = show.Trouble(s.explain(ctx, key, e, err).Error() + "; still trying")
	default:
		err = s.explain(ctx, key, e, err)
	}
	if err != nil {
		return true, err
	}
	if descErr == nil && !now.running() {
		return true, show.Trouble("the workflow has ended: " + strings.ToLower(now.Status))
	}
	return false, nil
}

// peek describes without explaining.
func (s *session) peek(ctx context.Context, key core.JobKey) (execution, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	return s.srv.Describe(ctx, spec.ID(key))
}

// watched is a status with how far the rescale is that is under way.
type watched struct {
	workflows.Status

	Progress *view.Progress `json:"progress,omitempty"`
}

// jsonShower writes one document a line for every evaluation and change.
type jsonShower struct {
	enc  *json.Encoder
	last string
}

func (j *jsonShower) Show(s workflows.Status, p *view.Progress) error {
	b, err := json.Marshal(watched{s, p})
	if err != nil || string(b) == j.last {
		return err
	}
	j.last = string(b)
	return j.enc.Encode(watched{s, p})
}

func (j *jsonShower) Trouble(why string) error { return j.enc.Encode(map[string]string{"error": why}) }
func (j *jsonShower) Close() error             { return nil }
