package flinksim

import (
	"net/http"
	"time"
)

type rescaleVertex struct {
	ID         string `json:"jobVertexId"`
	Name       string `json:"jobVertexName"`
	Group      string `json:"slotSharingGroupId"`
	GroupName  string `json:"slotSharingGroupName"`
	Desired    int    `json:"desiredParallelism"`
	Sufficient int    `json:"sufficientParallelism"`
	Before     *int   `json:"preRescaleParallelism"`
	After      *int   `json:"postRescaleParallelism"`
}

type rescaleState struct {
	State string  `json:"state"`
	Enter int64   `json:"enterTimestampInMillis"`
	Leave int64   `json:"leaveTimestampInMillis"`
	Took  int64   `json:"durationInMillis"`
	Error *string `json:"stringifiedException"`
}

type rescaleBody struct {
	UUID         string                   `json:"rescaleUuid"`
	Requirements string                   `json:"resourceRequirementsUuid"`
	Attempt      int                      `json:"rescaleAttemptId"`
	Vertices     map[string]rescaleVertex `json:"vertices"`
	Slots        map[string]any           `json:"slots"`
	States       []rescaleState           `json:"schedulerStates"`
	Start        int64                    `json:"startTimestampInMillis"`
	End          *int64                   `json:"endTimestampInMillis"`
	Terminal     *string                  `json:"terminalState"`
	Cause        string                   `json:"triggerCause"`
	Reason       *string                  `json:"terminatedReason"`
}

// body is the short form, without vertices, slots and states.
func (r *rescale) body() *rescaleBody {
	b := &rescaleBody{
		UUID: r.uuid, Requirements: r.requirements, Attempt: 1, Vertices: map[string]rescaleVertex{}, Slots: map[string]any{},
		States: []rescaleState{}, Start: millis(r.start), Cause: r.cause,
	}
	if !r.end.IsZero() {
		end := millis(r.end)
		b.End, b.Terminal, b.Reason = &end, &r.terminal, &r.reason
	}
	return b
}

// full adds what the details show.
func (r *rescale) full(j *job) *rescaleBody {
	b := r.body()
	desired, enough, before := map[string]int{}, map[string]int{}, map[string]int{}
	after := map[string]int{}
	for i, w := range r.wanted {
		s := j.vertices[i].spec
		e := rescaleVertex{
			ID: s.ID, Name: s.Name, Group: hexID("group", s.SlotGroup), GroupName: s.SlotGroup, Desired: w.upper, Sufficient: w.lower,
		}
		e.Before = &r.before[i]
		if r.after != nil {
			e.After = &r.after[i]
			after[s.SlotGroup] = max(after[s.SlotGroup], r.after[i])
		}
		b.Vertices[s.ID] = e
		desired[s.SlotGroup] = max(desired[s.SlotGroup], w.upper)
		enough[s.SlotGroup] = max(enough[s.SlotGroup], w.lower)
		before[s.SlotGroup] = max(before[s.SlotGroup], r.before[i])
	}
	for g := range desired {
		b.Slots[hexID("group", g)] = map[string]any{
			"slotSharingGroupId": hexID("group", g), "slotSharingGroupName": g, "requestResourceProfile": anyResources(),
			"desiredSlots": desired[g], "minimalRequiredSlots": enough[g], "preRescaleSlots": before[g], "postRescaleSlots": after[g],
			"acquiredResourceProfile": slotResources(1),
		}
	}
	if !r.stopped.IsZero() && !r.end.IsZero() {
		b.States = []rescaleState{
			span("Executing", r.start, r.stopped), span("Restarting", r.stopped, r.end), span("CreatingExecutionGraph", r.end, r.end), span("Executing", r.end, r.end),
		}
	}
	return b
}

func span(state string, from, to time.Time) rescaleState {
	return rescaleState{State: state, Enter: millis(from), Leave: millis(to), Took: to.Sub(from).Milliseconds()}
}

func anyResources() resources {
	return resources{CPU: -1, Heap: -1, OffHeap: -1, Managed: -1, Network: -1, Extended: map[string]any{}}
}

func (j *job) serveRescales(parts []string) (reply, bool) {
	if j.spec.NotAdaptive && parts[0] == "config" {
		return refuse(http.StatusNotFound, "AdaptiveScheduler is not enabled for this job"), true
	}
	if parts[0] == "config" && len(parts) == 1 {
		return ok(j.rescaleConfig()), true
	}
	if j.spec.NotAdaptive || j.c.opt.RescaleHistory <= 0 {
		return errorReply(http.StatusNotFound, trace("org.apache.flink.runtime.rest.handler.job.rescales.RescalesUnavailableException",
			"The job `"+j.spec.ID+"` has not enabled the `Adaptive` scheduler, or it has been enabled but the value of configuration option `web.adaptive-scheduler.rescale-history.size` has not been set to greater than `0`.")), true
	}
	switch {
	case len(parts) == 1 && parts[0] == "overview":
		return ok(j.rescalesOverview()), true
	case len(parts) == 1 && parts[0] == "history":
		out := []*rescaleBody{}
		for i := len(j.rescales) - 1; i >= 0; i-- {
			out = append(out, j.rescales[i].body())
		}
		return ok(out), true
	case len(parts) == 1 && parts[0] == "summary":
		return ok(j.rescalesSummary()), true
	case len(parts) == 2 && parts[0] == "details":
		for _, r := range j.rescales {
			if r.uuid == parts[1] {
				return ok(r.full(j)), true
			}
		}
		return refuse(http.StatusNotFound, "Could not find rescale details of specified rescaleUuid "+parts[1]+"."), true
	}
	return reply{}, false
}

func (j *job) rescaleConfig() any {
	o := j.c.opt
	wait := o.MaxDelay
	if !j.checkpoints.on() {
		wait = 0
	}
	return struct {
		Max           int     `json:"rescaleHistoryMax"`
		Mode          *string `json:"schedulerExecutionMode"`
		Wait          int64   `json:"submissionResourceWaitTimeoutInMillis"`
		Stabilization int64   `json:"submissionResourceStabilizationTimeoutInMillis"`
		Idle          int64   `json:"slotIdleTimeoutInMillis"`
		Cooldown      int64   `json:"executingCooldownTimeoutInMillis"`
		Executing     int64   `json:"executingResourceStabilizationTimeoutInMillis"`
		MaxDelay      int64   `json:"maximumDelayForTriggeringRescaleInMillis"`
		OnFailed      int     `json:"rescaleOnFailedCheckpointCount"`
	}{
		max(0, o.RescaleHistory), nil, o.ResourceWait.Milliseconds(), o.Stabilization.Milliseconds(), 50000,
		o.Cooldown.Milliseconds(), o.Stabilization.Milliseconds(), wait.Milliseconds(), 2,
	}
}

type rescaleCounts struct {
	Ignored    int `json:"ignored"`
	InProgress int `json:"inProgress"`
	Completed  int `json:"completed"`
	Failed     int `json:"failed"`
}

func (j *job) rescaleCounts() (n rescaleCounts, newest map[string]*rescale, took map[string][]int64) {
	newest, took = map[string]*rescale{}, map[string][]int64{}
	for _, r := range j.rescales {
		switch r.terminal {
		case "":
			n.InProgress++
			continue
		case "COMPLETED":
			n.Completed++
		case "FAILED":
			n.Failed++
		default:
			n.Ignored++
		}
		newest[r.terminal] = r
		took[r.terminal] = append(took[r.terminal], r.end.Sub(r.start).Milliseconds())
		took[""] = append(took[""], r.end.Sub(r.start).Milliseconds())
	}
	return n, newest, took
}

func (j *job) rescalesOverview() any {
	n, newest, _ := j.rescaleCounts()
	short := func(terminal string) *rescaleBody {
		if r := newest[terminal]; r != nil {
			return r.body()
		}
		return nil
	}
	return map[string]any{
		"rescalesCounts": n,
		"latest":         map[string]*rescaleBody{"completed": short("COMPLETED"), "failed": short("FAILED"), "ignored": short("IGNORED")},
	}
}

func (j *job) rescalesSummary() any {
	n, _, took := j.rescaleCounts()
	return map[string]any{
		"rescalesCounts": n, "rescalesDurationStatsInMillis": statsOf(took[""]), "completedRescalesDurationStatsInMillis": statsOf(took["COMPLETED"]),
		"ignoredRescalesDurationStatsInMillis": statsOf(took["IGNORED"]), "failedRescalesDurationStatsInMillis": statsOf(took["FAILED"]),
	}
}
