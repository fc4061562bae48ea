package policy

import (
	"math"
	"time"
)

// longestWait bounds what waits for a person.
const longestWait = 30 * 24 * time.Hour

func approvalRows() []row {
	periods := row{name: "approval.periods", typ: "periods", rng: "entries separated by ;", ours: true, meaning: "periods in which changes need a yes; nothing: always"}
	periods.set = parsed(parsePeriods, func(d *draft) *[]Period { return &d.ApprovalPeriods })
	return []row{
		periods,
		oneOf(row{name: "approval.for", def: string(ApproveNone), ours: true, meaning: "changes that are carried out only when a person approves them: those that make some vertex smaller (DOWN), larger (UP), all, or none; what a person ordered needs no approval"},
			func(d *draft) *Approval { return &d.ApprovalFor }, []Approval{ApproveNone, ApproveDown, ApproveUp, ApproveAll}),
		number(row{name: "approval.min-step", def: "0", ours: true, meaning: "only changes that change some vertex by at least this share of its subtasks need a yes: with 0.5, 4 to 6 does and 4 to 5 does not; 0: all"},
			func(d *draft, f float64) { d.ApprovalMinStep = f }, 0, math.MaxFloat64),
		memory(row{name: "approval.min-state-size", def: "0 bytes", ours: true, meaning: "only changes of a job with at least this much state in its newest checkpoint need a yes, or where that is not known; 0: all"},
			func(d *draft) *int64 { return &d.ApprovalMinState }),
		duration(row{name: "approval.deadline", def: "1 h", ours: true, meaning: "how long a proposal waits for an answer, and how long a yes waits to be carried out"},
			func(d *draft) *time.Duration { return &d.ApprovalDeadline }, time.Second, longestWait),
		oneOf(row{name: "approval.default", def: string(RejectUnanswered), ours: true, meaning: "what becomes of a proposal that nobody answered in time"},
			func(d *draft) *Unanswered { return &d.ApprovalDefault }, []Unanswered{RejectUnanswered, ApplyUnanswered}),
		duration(row{name: "approval.quiet", def: "1 h", ours: true, meaning: "how long a change that was rejected is not proposed again, unless it grows"},
			func(d *draft) *time.Duration { return &d.ApprovalQuiet }, 0, longestWait),
	}
}

// AsksStateSize is true when a decision depends on how much state the job has.
func (p Policy) AsksStateSize() bool {
	return p.ApprovalFor != ApproveNone && p.ApprovalMinState > 0
}

// AsksNow is true when, at this time, changes may need a person's yes.
func (p Policy) AsksNow(now time.Time) bool {
	if p.ApprovalFor == ApproveNone {
		return false
	}
	if len(p.ApprovalPeriods) == 0 {
		return true
	}
	_, in := p.holding(p.ApprovalPeriods, now)
	return in
}
