package activities

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
)

// beatEvery is how often an activity says that it is alive, well within the
// workflow's heartbeat time-out: one read of a JobManager that hangs may take
// longer than that.
const beatEvery = 5 * time.Second

// pulse heartbeats for an activity while it works or waits.
type pulse struct {
	cancel context.CancelFunc
	ended  chan struct{}

	mu       sync.Mutex
	details  any
	stopping bool
}

// startBeat heartbeats until stop, also during a read that hangs. What waits
// for long gives the worker's stop channel: the context then ends when the
// worker shuts down, so that another one takes over at once. What is short
// gives nil and is let finish.
func startBeat(ctx context.Context, handOver <-chan struct{}) (context.Context, *pulse) {
	ctx, cancel := context.WithCancel(ctx)
	p := &pulse{cancel: cancel, ended: make(chan struct{})}
	go p.run(ctx, handOver)
	return ctx, p
}

func (p *pulse) run(ctx context.Context, handOver <-chan struct{}) {
	defer close(p.ended)
	t := time.NewTicker(beatEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-handOver:
			p.mu.Lock()
			p.stopping = true
			p.mu.Unlock()
			p.cancel()
			return
		case <-t.C:
			p.mu.Lock()
			details := p.details
			p.mu.Unlock()
			p.send(ctx, details)
		}
	}
}

// show heartbeats now and has the further ones say the same.
func (p *pulse) show(ctx context.Context, details any) {
	p.mu.Lock()
	p.details = details
	p.mu.Unlock()
	p.send(ctx, details)
}

func (p *pulse) send(ctx context.Context, details any) {
	if details == nil {
		activity.RecordHeartbeat(ctx)
		return
	}
	activity.RecordHeartbeat(ctx, details)
}

// stop ends the heartbeats; none comes after it.
func (p *pulse) stop() {
	p.cancel()
	<-p.ended
}

// handedOver is true when the wait ended because the worker shuts down.
func (p *pulse) handedOver() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stopping
}

// errStopping has Temporal try again, on a worker that stays.
func errStopping() error {
	return temporal.NewApplicationErrorWithOptions("the worker shuts down; another one goes on", ErrTypeTryAgain,
		temporal.ApplicationErrorOptions{Category: temporal.ApplicationErrorCategoryBenign})
}
