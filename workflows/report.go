package workflows

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/core/spec"
)

// Names of the metrics that workflows count; the SDK adds its own labels.
const (
	MetricDecisions = "flink_autoscaler_decisions"
	MetricRescales  = "flink_autoscaler_rescales"
	MetricMessages  = "flink_autoscaler_messages"
)

// Health is the state of a job's management in one word.
type Health = core.Health

// The states of the management.
const (
	Starting  = core.Starting
	Watching  = core.Watching
	Rescaling = core.Rescaling
	Paused    = core.Paused
	Blocked   = core.Blocked
	JobGone   = core.JobGone
	// Awaiting means that a change waits for a person's yes.
	Awaiting = core.Awaiting
)

// Status is the answer of the query "status".
type Status struct {
	Cluster string      `json:"cluster"`
	Job     string      `json:"job"`
	State   Health      `json:"state"`
	Reason  core.Reason `json:"reason,omitempty"`
	Note    string      `json:"note,omitempty"`
	// Since is when the present reason began.
	Since        time.Time `json:"since,omitzero"`
	FlinkJobID   string    `json:"flinkJobId,omitempty"`
	FlinkVersion string    `json:"flinkVersion,omitempty"`
	// Means is how the job's size is changed, nil where Flink alone does it.
	Means *core.Means `json:"means,omitempty"`
	// Parallelism is that of the largest vertex.
	Parallelism int            `json:"parallelism"`
	Vertices    []VertexStatus `json:"vertices,omitempty"`
	// Lag is the number of waiting records, LagSeconds how long the sources
	// would need for it at the rate at which records arrive.
	Lag        core.Reading   `json:"lag"`
	LagSeconds core.Reading   `json:"lagSeconds"`
	Rate       core.Reading   `json:"recordsPerSecond"`
	Pause      *core.Pause    `json:"pause,omitempty"`
	Override   *core.Override `json:"override,omitempty"`
	Set        []SetKey       `json:"setPolicy,omitempty"`
	// Proposal waits for an answer, Approval is a yes that is not carried out yet,
	// Rejections are the noes that hold.
	Proposal   *core.Proposal  `json:"proposal,omitempty"`
	Approval   *core.Answered  `json:"approval,omitempty"`
	Rejections []core.Answered `json:"rejections,omitempty"`
	Rescale    *OpenRescale    `json:"rescale,omitempty"`
	// Slots is what the job asked for of the slots that the jobs of its cluster
	// share, nil where it waits for nothing.
	Slots *SlotsAsked `json:"slots,omitempty"`
	// RescaleWorkflow is the id of the workflow that carries Rescale out, which
	// answers the query "progress".
	RescaleWorkflow string        `json:"rescaleWorkflow,omitempty"`
	LastRescale     *core.Outcome `json:"lastRescale,omitempty"`
	RetryAfter      time.Time     `json:"retryAfter,omitzero"`
	LastDecision    string        `json:"lastDecision,omitempty"`
	LastDecisionAt  time.Time     `json:"lastDecisionAt,omitzero"`
	NextEvaluation  time.Time     `json:"nextEvaluation,omitzero"`
	Interval        string        `json:"interval"`
	Cycle           int           `json:"cycle"`
	Runs            int           `json:"runs"`
	// Orders counts the messages that were carried out, Refused the signals that
	// could not be; Rejected holds the newest of these.
	Orders   int        `json:"orders"`
	Refused  int        `json:"refusedSignals,omitempty"`
	Rejected []Rejected `json:"rejectedSignals,omitempty"`
}

// VertexStatus is one vertex in a Status.
type VertexStatus struct {
	ID          string       `json:"id"`
	Name        string       `json:"name"`
	Parallelism int          `json:"parallelism"`
	Wanted      int          `json:"wanted,omitempty"`
	Load        core.Reading `json:"load"`
	// Rate is what has to be done, TrueRate what could be done at full load.
	Rate     core.Reading `json:"recordsPerSecond"`
	TrueRate core.Reading `json:"trueProcessingRate"`
	Lag      core.Reading `json:"lag"`
	Why      core.Reason  `json:"why,omitempty"`
}

// History is the answer of the query "history".
type History struct {
	Decisions []Record       `json:"decisions"`
	Rescales  []core.Outcome `json:"rescales"`
	Orders    []Order        `json:"orders,omitempty"`
}

// Policy is the answer of the query "policy".
type Policy struct {
	Keys []policy.Origin `json:"keys"`
	// Set are the keys set by message: who, and until when.
	Set      []SetKey       `json:"set,omitempty"`
	Problems []core.Problem `json:"problems,omitempty"`
}

func (s *State) status() Status {
	out := Status{
		Cluster: s.Spec.Key.Cluster, Job: s.Spec.Key.Job, State: s.health(), Reason: s.Last.Reason, Note: s.Last.Note,
		FlinkJobID: s.Job.ID, FlinkVersion: s.Job.FlinkVersion, Means: s.Job.Means, Parallelism: s.parallelism(), Vertices: s.vertices(),
		Pause: s.Pause, Override: s.Override, Set: s.Set,
		Proposal: s.Consent.Open, Approval: s.Consent.Given, Rejections: s.Consent.Refused, Rescale: s.Open, RetryAfter: s.RetryAfter, LastDecision: s.Last.ID,
		LastDecisionAt: s.Last.At, NextEvaluation: s.NextAt, Interval: s.Interval.String(), Cycle: s.Cycle, Runs: s.Runs, Orders: s.Orders, Refused: s.Refused, Rejected: s.Rejected,
	}
	if s.Open != nil {
		out.RescaleWorkflow = spec.RescaleID(s.Spec.Key.Cluster, s.Spec.Target)
	}
	if s.Turn != nil {
		out.Slots = s.Turn.Asked
	}
	if n := len(s.Decisions); n > 0 {
		out.Since = s.Decisions[n-1].At
	}
	if n := len(s.Rescales); n > 0 {
		out.LastRescale = &s.Rescales[n-1]
	}
	out.Lag, out.Rate = s.sources()
	if rate, ok := out.Rate.Value(); ok && rate > 0 {
		out.LagSeconds = out.Lag.Map(func(lag float64) float64 { return lag / rate })
	}
	return out
}

// health is the recorded one, with what happened since: orders and rescales
// take effect at once. Only queries and details use it, no command.
func (s *State) health() Health {
	switch {
	case s.Open != nil:
		return Rescaling
	case s.Health == "":
		return Starting
	case s.Pause != nil && s.Health != JobGone:
		return Paused
	case s.Pause == nil && s.Health == Paused, s.Health == Rescaling, s.Health == Awaiting && s.Consent.Open == nil:
		return Watching // until the next cycle, which begins at once
	}
	return s.Health
}

func (s *State) parallelism() int {
	p := 0
	for _, v := range s.Topology.Vertices {
		p = max(p, v.Parallelism)
	}
	return p
}

// vertices lists the vertices from source to sink.
func (s *State) vertices() []VertexStatus {
	out := make([]VertexStatus, 0, len(s.Topology.Vertices))
	for _, v := range s.Topology.Ordered() {
		row := VertexStatus{ID: v.ID, Name: v.Name, Parallelism: v.Parallelism}
		if d := s.decisionOf(v.ID); d != nil {
			row.Wanted, row.Load, row.Rate, row.TrueRate, row.Lag, row.Why = d.Wanted, d.Load, d.TargetRate, d.TrueRate, d.Lag, d.Why
		}
		out = append(out, row)
	}
	return out
}

// decisionOf is a vertex' part of the last decision, nil for none.
func (s *State) decisionOf(id string) *core.VertexDecision {
	for i := range s.Last.Vertices {
		if s.Last.Vertices[i].ID == id {
			return &s.Last.Vertices[i]
		}
	}
	return nil
}

// sources sums lag and rate over the sources of the last decision.
func (s *State) sources() (lag, rate core.Reading) {
	for _, v := range s.Topology.Vertices {
		if !v.IsSource() {
			continue
		}
		if d := s.decisionOf(v.ID); d != nil {
			lag, rate = add(lag, d.Lag), add(rate, d.TargetRate)
		}
	}
	return lag, rate
}

// add sums readings; what is absent adds nothing.
func add(a, b core.Reading) core.Reading {
	x, ok := a.Value()
	if !ok {
		return b
	}
	return core.Read(x + b.Or(0))
}

// explain gives the last decision as lines of text.
func (s *State) explain() []string {
	if s.Last.ID == "" {
		return []string{"nothing is decided yet"}
	}
	p, _, _ := policy.Resolve(s.layers())
	text := s.Last.Text(s.Topology, p.Terms())
	return append(strings.Split(strings.TrimRight(text, "\n"), "\n"), append(s.proposalLines(), s.turnLines()...)...)
}

func (s *State) history() History {
	return History{Decisions: s.Decisions, Rescales: s.Rescales, Orders: s.Given}
}

// details are the Markdown lines in the Temporal UI.
func (s *State) details() string {
	st := s.status()
	lines := []string{s.headline(st.State)}
	if len(st.Vertices) > 0 {
		lines = append(lines, "", "| vertex | parallelism | load | records/s | could do | lag |", "|---|---|---|---|---|---|")
		for i, v := range st.Vertices {
			if i == maxDetailRows {
				lines = append(lines, fmt.Sprintf("| and %d more | | | | | |", len(st.Vertices)-i))
				break
			}
			lines = append(lines, fmt.Sprintf("| %s | %s | %s | %s | %s | %s |", cell(v.Name), sizeCell(v, s.Open), percent(v.Load), number(v.Rate), number(v.TrueRate), number(v.Lag)))
		}
	}
	lines = append(lines, "")
	lines = append(lines, s.orders()...)
	if st.LastRescale != nil {
		lines = append(lines, fmt.Sprintf("- last rescale: **%s** (%s) %s", st.LastRescale.Kind, clock(st.LastRescale.EndedAt), plain(st.LastRescale.Note)))
	}
	if !st.NextEvaluation.IsZero() {
		lines = append(lines, fmt.Sprintf("- next evaluation %s, every %s", clock(st.NextEvaluation), s.Interval))
	}
	return strings.Join(lines, "\n") + lastLine
}

// maxDetailRows keeps the details readable for large jobs.
const maxDetailRows = 20

// headline is the state and why. A note that begins with the state goes on from
// it.
func (s *State) headline(state Health) string {
	if o := s.Open; o != nil {
		return fmt.Sprintf("**%s**, attempt %d since %s: see %s", state, o.Attempt, clock(o.Since), plain(spec.RescaleID(s.Spec.Key.Cluster, s.Spec.Target)))
	}
	if s.Last.ID == "" {
		return fmt.Sprintf("**%s**", state)
	}
	note := s.Last.Note
	if rest, ok := strings.CutPrefix(note, string(state)+" "); ok {
		return fmt.Sprintf("**%s** %s", state, plain(rest))
	}
	if string(s.Last.Reason) == string(state) {
		return fmt.Sprintf("**%s**: %s", state, plain(note))
	}
	return fmt.Sprintf("**%s**, %s: %s", state, s.Last.Reason, plain(note))
}

// orders says what operators ordered, and what of it was refused.
func (s *State) orders() []string {
	var out []string
	if p := s.Pause; p != nil {
		out = append(out, fmt.Sprintf("- **paused**%s%s, %s", by(p.By), because(p.Reason), span(p.Since, p.Until)))
	}
	if o := s.Override; o != nil {
		out = append(out, fmt.Sprintf("- **override** %s%s%s, %s", plain(s.overrideText(*o)), by(o.By), because(o.Reason), span(o.Since, o.Until)))
	}
	if p := s.Consent.Open; p != nil {
		out = append(out, fmt.Sprintf("- **proposal `%s`** waits for approve or reject until %s: %s", p.ID, clock(p.Deadline), plain(s.proposalText(*p))))
	}
	if a := s.Consent.Given; a != nil {
		out = append(out, fmt.Sprintf("- **approved** `%s`%s%s, %s: %s", a.Proposal.ID, by(a.By), because(a.Reason), span(a.At, a.Until), plain(s.proposalText(a.Proposal))))
	}
	for _, a := range s.Consent.Refused {
		out = append(out, fmt.Sprintf("- **rejected** `%s`%s%s, %s: %s", a.Proposal.ID, by(a.By), because(a.Reason), span(a.At, a.Until), plain(s.proposalText(a.Proposal))))
	}
	if t := s.Turn; t != nil && t.Asked != nil {
		out = append(out, fmt.Sprintf("- **waits for %d slots**: %s", t.Asked.Slots, plain(t.Asked.Standing())))
	}
	for i, k := range s.Set {
		if i == maxTold {
			out = append(out, fmt.Sprintf("- and %d more policy keys", len(s.Set)-i))
			break
		}
		out = append(out, fmt.Sprintf("- **policy** %s = %s set%s%s, %s", cell(k.Key), cell(k.Value), by(k.By), because(k.Reason), span(k.Since, k.Until)))
	}
	if n := len(s.Rejected); n > 0 {
		r := s.Rejected[n-1]
		out = append(out, fmt.Sprintf("- refused signals: %d, the last %s at %s: %s", max(s.Refused, n), plain(r.Message), clock(r.At), cell(joined(r.Problems))))
	}
	return out
}

// span says since when an order holds, and until when.
func span(since, until time.Time) string {
	text := "since " + clock(since)
	if until.IsZero() {
		return text + " until further notice"
	}
	return text + " until " + clock(until)
}

// overrideText lists what an override pins: "Enrich to 4".
func (s *State) overrideText(o core.Override) string {
	if o.Parallelism != 0 {
		return fmt.Sprintf("to %d everywhere", o.Parallelism)
	}
	var parts []string
	for i, v := range o.Vertices {
		if i == maxTold {
			parts = append(parts, fmt.Sprintf("%d more", len(o.Vertices)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%s to %d", s.Topology.Title(v.ID, maxTitle), v.Parallelism))
	}
	return strings.Join(parts, ", ")
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return " by " + cell(who)
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + cell(why) + ")"
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// plain keeps a text that others wrote (names, orders, Flink's words) from
// being read as Markdown: no link, no image, no table of its own.
func plain(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case unicode.IsControl(r):
			b.WriteByte(' ')
		case r == '<':
			b.WriteString(`\<`) // the Web UI shows an entity as it is
		case r == '&':
			b.WriteString("&amp;")
		case strings.ContainsRune("\\|`*_[]#!~", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// cell is a text for a cell of a table: names can be long.
func cell(s string) string { return plain(spec.Cut(s, maxCell)) }

const maxCell = 300

func sizeCell(v VertexStatus, open *OpenRescale) string {
	if open != nil {
		if to, ok := core.FindSize(open.Wanted, v.ID); ok && to != v.Parallelism {
			return fmt.Sprintf("%d → %d", v.Parallelism, to)
		}
		return fmt.Sprint(v.Parallelism)
	}
	if v.Wanted != 0 && v.Wanted != v.Parallelism {
		return fmt.Sprintf("%d (would be %d)", v.Parallelism, v.Wanted)
	}
	return fmt.Sprint(v.Parallelism)
}

func percent(r core.Reading) string {
	if v, ok := r.Value(); ok {
		return fmt.Sprintf("%.0f %%", v*100)
	}
	return "–"
}

func number(r core.Reading) string {
	if v, ok := r.Value(); ok {
		return fmt.Sprintf("%.0f", v)
	}
	return "–"
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// changesText lists what changes by name: "Enrich 4 -> 6".
func (s *State) changesText(from, to []core.VertexSize) string {
	var changes []SizeChange
	for _, t := range to {
		if f, ok := core.FindSize(from, t.ID); !ok || f != t.Parallelism {
			changes = append(changes, SizeChange{ID: t.ID, Name: s.Topology.Title(t.ID, maxTitle), From: f, To: t.Parallelism})
		}
	}
	return sizeChangesText(changes)
}

// sizesText shows the vertices that change, by the beginning of their ids.
func sizesText(from, to []core.VertexSize) string {
	var lines []string
	for _, t := range to {
		if f, ok := core.FindSize(from, t.ID); !ok || f != t.Parallelism {
			lines = append(lines, fmt.Sprintf("- vertex %s: %d -> %d", plain(spec.Cut(t.ID, maxTitle)), f, t.Parallelism))
		}
	}
	if len(lines) > maxDetailRows {
		lines = append(lines[:maxDetailRows], fmt.Sprintf("- and %d more", len(lines)-maxDetailRows))
	}
	return strings.Join(lines, "\n")
}

// lastLine is text that is not seen: the Web UI cuts off the end of the last
// paragraph.
const lastLine = "\n\n\u00a0"
