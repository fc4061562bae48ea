package telemetry

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Times of a check of the server.
const (
	// checkTime bounds one check, so that a probe gets its answer in time.
	checkTime = 2 * time.Second
	// checkEvery is how long an answer counts: probes never load the server.
	checkEvery = 2 * time.Second
)

// Check asks whether what the process depends on answers.
type Check func(ctx context.Context) error

// Health tells whether the process can do its work. The zero value is not
// ready.
type Health struct {
	mu sync.Mutex
	// reason is why it is not ready, whatever a check says.
	reason string
	check  Check

	asked  time.Time
	answer error
	asking sync.Mutex
}

// NotReady says why the process cannot work.
func (h *Health) NotReady(reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reason, h.check = reason, nil
}

// Ready says that the process works as long as the check passes.
func (h *Health) Ready(check Check) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reason, h.check, h.asked = "", check, time.Time{}
}

// errStarting is the answer before anybody said anything.
var errStarting = errors.New("starting")

// Err is why the process is not ready, nil when it is.
func (h *Health) Err(ctx context.Context) error {
	check, err := h.state()
	if check == nil {
		return err
	}
	h.asking.Lock()
	defer h.asking.Unlock()
	h.mu.Lock()
	fresh := time.Since(h.asked) < checkEvery
	answer := h.answer
	h.mu.Unlock()
	if fresh {
		return answer
	}
	// The answer is kept for others: a probe that hangs up must not spoil it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTime)
	defer cancel()
	answer = check(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked, h.answer = time.Now(), answer
	return answer
}

func (h *Health) state() (Check, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.check != nil:
		return h.check, nil
	case h.reason != "":
		return nil, errors.New(h.reason)
	}
	return nil, errStarting
}
