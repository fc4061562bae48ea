package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"flinkscaler/core"
	"flinkscaler/core/share"
)

// NameAskSlots is the activity that asks for slots, NameShareSlots the type of
// the workflow that is asked.
const (
	NameAskSlots   = "AskSlots"
	NameShareSlots = "ShareSlots"
)

// Signals of those that share slots. Jobs and rescales send the first three to
// the workflow that shares, with a SlotsMessage; it answers the job with the
// last two, which carry a SlotsAnswer.
const (
	SignalSlotsRequest = "request"
	SignalSlotsRenew   = "renew"
	SignalSlotsRelease = "release"
	SignalSlotsGranted = "slots-granted"
	SignalSlotsPlace   = "slots-place"
)

// SlotsStart begins the sharing of a cluster's slots.
type SlotsStart struct {
	Cluster string       `json:"cluster"`
	Limits  share.Limits `json:"limits"`
}

// SlotsMessage is what a job or its rescale says to the workflow that shares.
type SlotsMessage struct {
	Cluster    string `json:"cluster"`
	Job        string `json:"job"`
	DecisionID string `json:"decision"`
	// ReplyTo is the id of the workflow that is answered; of a request and a
	// renewal.
	ReplyTo string `json:"replyTo,omitempty"`
	// Held is how many slots the job has now, Slots how many it may take besides.
	Held     int `json:"held"`
	Slots    int `json:"slots,omitempty"`
	Priority int `json:"priority,omitempty"`
	// Limits are those of the worker that sends it, of a request and a release.
	Limits *share.Limits `json:"limits,omitempty"`
	// Again, in a release: the job stops waiting for now and will ask anew.
	Again bool `json:"again,omitempty"`
}

// SlotsAnswer is what a job is told.
type SlotsAnswer struct {
	Cluster    string       `json:"cluster"`
	Job        string       `json:"job"`
	DecisionID string       `json:"decision"`
	Answer     share.Answer `json:"answer"`
	// Until is when a lease ends unless it is renewed.
	Until time.Time `json:"until,omitzero"`
	// Place is where a job stands that waits.
	Place *share.Place `json:"place,omitempty"`
}

// SlotsWish is what a job has and wants of what the jobs of its cluster share.
type SlotsWish struct {
	// Held is how many slots the job has, Slots how many it wants besides: 0 when
	// nothing changes, less for a change that makes it smaller.
	Held     int `json:"held"`
	Slots    int `json:"slots,omitempty"`
	Priority int `json:"priority,omitempty"`
}

// Need is how many slots it will have.
func (w SlotsWish) Need() int { return w.Held + w.Slots }

// AskSlotsInput is a job that wants to grow, or that says what it holds.
type AskSlotsInput struct {
	Key        core.JobKey `json:"key"`
	DecisionID string      `json:"decision"`
	ReplyTo    string      `json:"replyTo"`
	SlotsWish
}

// AskedSlots is what came of asking; the answer itself is a signal.
type AskedSlots struct {
	// Off is true when nothing is shared on that cluster: nobody was asked.
	Off bool `json:"off,omitempty"`
	// Lease is how long a lease lasts without being renewed.
	Lease time.Duration `json:"lease,omitempty"`
}

// AskSlots asks the workflow that shares the cluster's slots, and starts it when
// it does not run; who wants none only says what it holds. It brings the limits
// of this worker's configuration along, so that a change of them takes effect.
// To ask again has no other effect than to be told again.
func (a *Activities) AskSlots(ctx context.Context, in AskSlotsInput) (AskedSlots, error) {
	if _, err := a.platform(in.Key.Cluster); err != nil {
		return AskedSlots{}, toTemporal(err)
	}
	limits := a.s.Clusters[in.Key.Cluster].Share
	if !limits.On() {
		return AskedSlots{Off: true}, nil
	}
	if limits.Lease <= 0 {
		limits.Lease = share.DefaultLease
	}
	m := SlotsMessage{Cluster: in.Key.Cluster, Job: in.Key.Job, DecisionID: in.DecisionID, Held: in.Held, Limits: &limits}
	signal := SignalSlotsRelease
	if in.Slots > 0 {
		signal = SignalSlotsRequest
		m.ReplyTo, m.Slots, m.Priority = in.ReplyTo, in.Slots, in.Priority
	}
	err := a.s.Slots.TellSlots(ctx, activity.GetInfo(ctx).TaskQueue, signal, m)
	return AskedSlots{Lease: limits.Lease}, err
}

// wish is what a job has and wants of what the jobs of its cluster share; nil
// where nothing is shared there, or the job was not seen yet.
func wish(c core.JobContext, d core.Decision, priority int) *SlotsWish {
	if c.Turn == nil || len(c.Topology.Vertices) == 0 {
		return nil
	}
	w := SlotsWish{Held: c.SlotsHeld(), Priority: priority}
	switch {
	case d.Reason == core.ReasonJobGone:
		w.Held = 0
	case d.Verdict == core.Change:
		w.Slots = c.Topology.Slots(d.Sizes()) - w.Held
	case d.Needs > 0:
		w.Slots = d.Needs - w.Held
	}
	return &w
}
