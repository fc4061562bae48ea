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

// Signals between a rescale and the workflow that shares the slots of its
// cluster. The first three carry a SlotsMessage, the next two a SlotsAnswer; the
// last comes from the job's own workflow and ends the wait: why, as a text.
const (
	SignalSlotsRequest = "request"
	SignalSlotsRenew   = "renew"
	SignalSlotsRelease = "release"
	SignalSlotsGranted = "slots-granted"
	SignalSlotsPlace   = "slots-place"
	SignalSlotsStop    = "slots-stop"
)

// SlotsStart begins the sharing of a cluster's slots.
type SlotsStart struct {
	Cluster string       `json:"cluster"`
	Limits  share.Limits `json:"limits"`
}

// SlotsMessage is what a rescale says to the workflow that shares.
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
	// Limits are those of the worker that asks, in a request.
	Limits *share.Limits `json:"limits,omitempty"`
	// Again, in a release: the job stops waiting for now and will ask anew.
	Again bool `json:"again,omitempty"`
}

// SlotsAnswer is what a rescale is told.
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

// SlotsWish is what a change takes of what the jobs of a cluster share.
type SlotsWish struct {
	// Held is how many slots the job has, Slots how many it wants besides: 0 or
	// less for a change that makes it no larger.
	Held     int `json:"held"`
	Slots    int `json:"slots"`
	Priority int `json:"priority,omitempty"`
}

// AskSlotsInput is a rescale that wants to grow.
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
// it does not run. It brings the limits of this worker's configuration along, so
// that a change of them takes effect with the next rescale. To ask again has no
// other effect than to be told again.
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
	err := a.s.Slots.AskSlots(ctx, activity.GetInfo(ctx).TaskQueue, SlotsMessage{
		Cluster: in.Key.Cluster, Job: in.Key.Job, DecisionID: in.DecisionID, ReplyTo: in.ReplyTo,
		Held: in.Held, Slots: in.Slots, Priority: in.Priority, Limits: &limits,
	})
	return AskedSlots{Lease: limits.Lease}, err
}

// WishOf is what a decision takes of what the jobs of a cluster share; nil where
// nothing is shared there, or nothing changes.
func (a *Activities) WishOf(cluster string, t core.Topology, d core.Decision, priority int) *SlotsWish {
	if !a.s.Clusters[cluster].Share.On() || d.Verdict != core.Change {
		return nil
	}
	held, need := total(slotsByGroup(t, t.Sizes())), total(slotsByGroup(t, d.Sizes()))
	return &SlotsWish{Held: held, Slots: need - held, Priority: priority}
}

func total(groups map[string]int) int {
	n := 0
	for _, slots := range groups {
		n += slots
	}
	return n
}
