package view

import (
	"time"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/share"
	"flinkscaler/workflows"
)

const (
	sourceID = "bc764cd8ddf7a0cff126f51c16239658"
	mapID    = "0a448493b4782967b150582570326227"
	sinkID   = "ea632d67b7d595e5b851708ae9ad79d6"
)

func now() time.Time { return time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC) }

func before(d time.Duration) time.Time { return now().Add(-d) }
func after(d time.Duration) time.Time  { return now().Add(d) }

// watching is a job with which all is well.
func watching() workflows.Status {
	return workflows.Status{
		Cluster: "dev", Job: "orders", State: workflows.Watching, Reason: core.ReasonWithinTarget,
		Note:  "every vertex works within 40 % to 100 % of its capacity",
		Since: before(34 * time.Minute), FlinkJobID: "a4b35ddbb34187f76d11b0d3aff7e61e", FlinkVersion: "2.3.0", Parallelism: 4,
		Lag: core.Read(1234), LagSeconds: core.Read(1.2), Rate: core.Read(1020),
		Vertices: []workflows.VertexStatus{
			{ID: sourceID, Name: "Source: orders", Parallelism: 2, Wanted: 2, Load: core.Read(0.31), Rate: core.Read(1020), TrueRate: core.Read(3290), Lag: core.Read(1234), Why: core.ReasonWithinTarget},
			{ID: mapID, Name: "Enrich -> Filter", Parallelism: 4, Wanted: 4, Load: core.Read(0.62), Rate: core.Read(1020), TrueRate: core.Read(1645), Lag: core.Absent(core.NotApplicable), Why: core.ReasonWithinTarget},
			{ID: sinkID, Name: "Sink: out", Parallelism: 1, Wanted: 1, Load: core.Read(0.5), Rate: core.Read(204.5), TrueRate: core.Read(409), Lag: core.Absent(core.NotApplicable), Why: core.ReasonWithinTarget},
		},
		LastDecision: "17-1796025590", LastDecisionAt: before(10 * time.Second), NextEvaluation: after(50 * time.Second),
		Interval: "1m0s", Cycle: 17, Runs: 1,
	}
}

// rescaling is the same job while its middle grows.
func rescaling() workflows.Status {
	s := watching()
	s.State, s.Reason, s.Since = workflows.Rescaling, core.ReasonScaleUp, before(12*time.Second)
	s.Note = "Enrich -> Filter cannot keep up: 2400 records/s are needed, 1645 are possible"
	s.Vertices[1].Load, s.Vertices[1].Wanted, s.Vertices[1].Why = core.Read(0.99), 6, core.ReasonScaleUp
	s.Rescale = &workflows.OpenRescale{DecisionID: s.LastDecision, Attempt: 3, Since: before(11 * time.Second), Wanted: []core.VertexSize{{ID: mapID, Parallelism: 6}, {ID: sourceID, Parallelism: 2}, {ID: sinkID, Parallelism: 1}}}
	s.LastRescale = outcome()
	return s
}

func outcome() *core.Outcome {
	return &core.Outcome{
		Kind: core.Partial, Reason: core.ReasonNoSlots, Note: "5 of 6 slots were free", DecisionID: "9-1796025000", Attempt: 2,
		From:      []core.VertexSize{{ID: mapID, Parallelism: 2}, {ID: sourceID, Parallelism: 2}},
		Wanted:    []core.VertexSize{{ID: mapID, Parallelism: 6}, {ID: sourceID, Parallelism: 2}},
		Got:       []core.VertexSize{{ID: mapID, Parallelism: 4}, {ID: sourceID, Parallelism: 2}},
		StartedAt: before(3 * time.Hour), WrittenAt: before(3*time.Hour - time.Second), RunningAt: before(3*time.Hour - 9*time.Second), EndedAt: before(3*time.Hour - 10*time.Second),
	}
}

// ordered is a paused job with an override and a signal that was refused.
func ordered() workflows.Status {
	s := watching()
	s.State, s.Reason, s.Note = workflows.Paused, core.ReasonPaused, "an operator wants no changes; a change to 6 would be due"
	s.Vertices[1].Wanted = 6
	s.Pause = &core.Pause{By: "ann", Reason: "release 1.7", Since: before(20 * time.Minute), Until: after(100 * time.Minute)}
	s.Override = &core.Override{Vertices: []core.VertexSize{{ID: mapID, Parallelism: 8}, {ID: "Sink: out", Parallelism: 2}}, By: "bob", Since: before(2 * time.Minute)}
	s.Rejected = []workflows.Rejected{{At: before(time.Minute), Message: "override", Problems: []core.Problem{
		{Path: "override.paralelism", Message: "unknown field; known are by, for, id, parallelism, reason, until, vertices"},
		{Path: "override.parallelism", Message: "or vertices must be given, one of them"},
	}}}
	return s
}

// awaiting is a job with a change that waits for a yes, one that was rejected
// and a policy that was set.
func awaiting() workflows.Status {
	s := watching()
	change := func(id string, to int) core.Proposal {
		return core.Proposal{ID: id, At: before(10 * time.Minute), Deadline: after(50 * time.Minute), From: []core.VertexSize{{ID: mapID, Parallelism: 4}}, To: []core.VertexSize{{ID: mapID, Parallelism: to}}}
	}
	s.State, s.Reason, s.Note = workflows.Awaiting, core.ReasonApproval, "proposal 42-1796040000 waits for an answer for 1 h; would do: Map 4 -> 9"
	open := change("42-1796040000", 9)
	open.Apply = true
	s.Proposal = &open
	s.Rejections = []core.Answered{{Proposal: change("30-1796039280", 6), By: "bob", Reason: "not now", At: before(20 * time.Minute), Until: after(40 * time.Minute)}}
	s.Set = []workflows.SetKey{{Key: "job.autoscaler.approval.for", Value: "ALL", By: "\x1b[2Jeve", Since: before(time.Hour)}}
	return s
}

// queued is a job that waits for slots that jobs share.
func queued() workflows.Status {
	s := watching()
	s.Reason, s.Vertices[1].Wanted, s.Vertices[1].Why = core.ReasonSlotsShared, 6, core.ReasonSlotsShared
	s.Note = "needs 2 slots besides its 4 of those that the jobs of the cluster share: asked for since 2026-11-30 07:55:00Z, no answer yet; would do: Enrich -> Filter 4 -> 6"
	s.Slots = &workflows.SlotsAsked{
		DecisionID: s.LastDecision, SlotsWish: activities.SlotsWish{Held: 4, Slots: 2}, Since: before(5 * time.Minute),
		Place: &share.Place{Place: 2, Of: 5, Why: share.WhyRescales, Note: "2 jobs grow, the limit is 2 at once"},
	}
	return s
}

// blocked is a job whose numbers did not come.
func blocked() workflows.Status {
	s := watching()
	s.State, s.Reason = workflows.Blocked, core.ReasonMetricsFrozen
	s.Note = "the JobManager's clock has not moved for 3 looks"
	s.Lag, s.LagSeconds, s.Rate = core.Absent(core.Stale), core.Reading{}, core.Absent(core.Incomplete)
	s.Vertices[0].Load, s.Vertices[1].Load, s.Vertices[2].Load = core.Absent(core.Stale), core.Absent(core.Incomplete), core.Reading{}
	s.RetryAfter = after(4 * time.Minute)
	s.NextEvaluation = before(time.Second)
	return s
}

// hostile is a job whose names try to take over the terminal.
func hostile() workflows.Status {
	s := watching()
	s.Job, s.Note = "orders", "line one\nline two \x1b[2J\x1b[1;1Hgone \x07 \u202e drawkcab"
	s.Vertices[0].Name = "\x1b]0;owned\x07 Source"
	s.Vertices[1].Name = "a very long name of a vertex that was made of many chained operators -> Map -> Map -> Filter"
	return s
}
