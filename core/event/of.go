package event

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/core/scale"
)

// maxPerVertex bounds the events of one kind that tell of single vertices: a
// job of 300 vertices must not send 300 at once, nor push out of memory what
// else was told.
const maxPerVertex = 20

// Of gives all that a decision gives rise to, whether it was told before or
// not. Health is that of the same decision: a look that failed once is no
// error yet.
func Of(d core.Decision, h core.Health, t core.Topology) []core.Event {
	m := maker{d: d, t: t}
	m.report()
	m.memory()
	m.ineffective()
	m.limited()
	m.blocked()
	m.failed(h)
	return m.out
}

// maker collects the events of one decision.
type maker struct {
	d   core.Decision
	t   core.Topology
	out []core.Event
}

// graph stands for what runs now. Most decisions have nothing to tell and need
// none.
func (m *maker) graph() string { return graphHash(m.d.Vertices) }

func (m *maker) add(k core.EventKind, reason string, warning bool, key []string, message string) *core.Event {
	m.out = append(m.out, core.Event{
		Kind: k, Reason: reason, Warning: warning, Key: strings.Join(append([]string{reason}, key...), "/"), Message: message,
		DecisionID: m.d.ID, At: m.d.At,
	})
	return &m.out[len(m.out)-1]
}

// report tells of the change that is made, or of the one that is not.
func (m *maker) report() {
	entries := m.entries()
	if len(entries) == 0 {
		return
	}
	hash := ParallelismHash(entries)
	var e *core.Event
	if m.d.Verdict == core.Change {
		e = m.add(core.EventReport, ScalingReport, false, []string{hash, m.graph()}, report(string(m.d.Reason)+" begins:", entries))
	} else {
		option, ok := forbidding(m.d.Reason)
		if !ok {
			return
		}
		e = m.add(core.EventRecommended, ScalingReport, false, []string{string(m.d.Reason), hash, m.graph()},
			report("recommended, but kept back by "+string(m.d.Reason)+after(", ", option)+":", entries))
	}
	e.ParallelismHash = hash
}

// forbidding is true for a reason that keeps a change from being made and says
// nothing against the change itself; with the option that does it.
func forbidding(r core.Reason) (option string, ok bool) {
	switch r {
	case core.ReasonPaused, core.ReasonSlotsShared, core.ReasonRival, core.ReasonNoSafeWay:
		return "", true
	case core.ReasonApproval:
		return policy.Prefix + "approval.for", true
	case core.ReasonScalingDisabled:
		return policy.Prefix + "scaling.enabled", true
	case core.ReasonExcludedPeriod:
		return policy.Prefix + "excluded.periods", true
	case core.ReasonNoDownPeriod:
		return policy.Prefix + "scale-down.excluded.periods", true
	}
	return "", false
}

// entries are the vertices that the decision changes, or that it would have
// changed, in the order of their ids.
func (m *maker) entries() []Entry {
	var out []Entry
	for _, v := range m.d.Vertices {
		to := v.To
		if m.d.Verdict != core.Change {
			to = keptBack(v, m.d.Reason)
		}
		if to != v.From {
			out = append(out, entryOf(v, to))
		}
	}
	slices.SortFunc(out, func(a, b Entry) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// keptBack is what a vertex would run at without the hold's reason; what it
// runs at now where that reason did not hold it. The reason, or the option that
// is behind it, is the last step; the number before it came by the step before,
// or was the wanted one.
func keptBack(v core.VertexDecision, r core.Reason) int {
	n := len(v.Steps)
	if n == 0 {
		return v.From
	}
	if option, _ := forbidding(r); v.Steps[n-1].By != string(r) && (option == "" || v.Steps[n-1].By != option) {
		return v.From
	}
	if n > 1 {
		return v.Steps[n-2].To
	}
	return v.Wanted
}

// memory tells what the TaskManagers' memory could be.
func (m *maker) memory() {
	a := m.d.Memory
	if a == nil || len(a.Set)+len(a.Remove) == 0 {
		return
	}
	var parts []string
	for _, o := range a.Set {
		parts = append(parts, "set "+o.Key+": "+o.Value)
	}
	for _, k := range a.Remove {
		parts = append(parts, "take out "+k)
	}
	m.add(core.EventRecommended, Recommendation, false, []string{ParallelismHash(m.entries()), m.graph()}, "for the new size, shown and never carried out: "+strings.Join(parts, "; "))
}

// ineffective tells of scale-ups that brought too little.
func (m *maker) ineffective() {
	var texts []perVertex
	for _, v := range m.d.Vertices {
		if v.Effect == nil {
			continue
		}
		blocking := "disabled"
		switch {
		case v.Effect.Blocks:
			blocking = "enabled"
		case !v.Effect.Until.IsZero():
			blocking = "enabled, and over: it is tried again"
		}
		texts = append(texts, perVertex{
			[]string{v.ID, strconv.Itoa(v.From), blocking},
			fmt.Sprintf("vertex %s: expected gain %s/s, actual gain %s/s, blocking %s", m.name(v.ID), twoPlaces(v.Effect.ExpectedGain), twoPlaces(v.Effect.Gain), blocking),
		})
	}
	m.each(core.EventIneffective, Ineffective, false, texts)
}

// limited tells where an alignment in the older manner took another size.
func (m *maker) limited() {
	var texts []perVertex
	for _, v := range m.d.Vertices {
		l, ok := scale.LimitedOf(v)
		if !ok {
			continue
		}
		texts = append(texts, perVertex{
			[]string{v.ID, strconv.Itoa(v.From), strconv.Itoa(l.Actual)},
			fmt.Sprintf("vertex %s: expected %d, actual %d; %d to share out, upper bound %d, lower limit %d", m.name(v.ID), l.Expected, l.Actual, l.N, l.Upper, l.Lower),
		})
	}
	m.each(core.EventError, Limited, true, texts)
}

// perVertex is an event of one vertex: what makes it the same, and its text.
type perVertex struct {
	key     []string
	message string
}

func (m *maker) each(k core.EventKind, reason string, warning bool, texts []perVertex) {
	for i, x := range texts {
		if i == maxPerVertex-1 && len(texts) > maxPerVertex {
			m.add(k, reason, warning, x.key, fmt.Sprintf("%s; %d more vertices alike", x.message, len(texts)-maxPerVertex))
			return
		}
		m.add(k, reason, warning, x.key, x.message)
	}
}

// name is a vertex for people and for programs.
func (m *maker) name(id string) string {
	if title := m.t.Title(id, 50); title != id {
		return fmt.Sprintf("%s (%s)", title, id)
	}
	return id
}

// gate is something besides an operator that forbids a change, by the names of
// its steps.
type gate struct {
	reason  core.Reason
	event   string
	warning bool
	by      []string
}

func gates() []gate {
	return []gate{
		{core.ReasonMemoryPressure, MemoryPressure, false, []string{policy.Prefix + "memory.gc-pressure.threshold", policy.Prefix + "memory.heap-usage.threshold"}},
		{core.ReasonQuota, QuotaReached, true, []string{policy.Prefix + "quota.cpu", policy.Prefix + "quota.memory"}},
		{core.ReasonVetoed, Vetoed, true, nil},
	}
}

// blocked tells of a change that memory, a quota or an executor forbids, also
// where the hold as a whole has another reason. Its key holds what runs and
// not what is wanted: with the load that moves from cycle to cycle.
func (m *maker) blocked() {
	for _, g := range gates() {
		note, found := m.d.Note, m.d.Verdict == core.Hold && m.d.Reason == g.reason
		if !found {
			note, found = m.step(g)
		}
		if found {
			m.add(core.EventError, g.event, g.warning, []string{m.graph()}, string(g.reason)+after(": ", note))
		}
	}
}

// step finds the first step of a gate, and its note.
func (m *maker) step(g gate) (string, bool) {
	for _, v := range m.d.Vertices {
		for _, s := range v.Steps {
			if s.By == string(g.reason) || slices.Contains(g.by, s.By) {
				return "vertex " + m.name(v.ID) + after(": ", s.Note), true
			}
		}
	}
	return "", false
}

func after(separator, text string) string {
	if text == "" {
		return ""
	}
	return separator + text
}

// Failures are the reasons of a hold that somebody should hear of: the job
// cannot be judged or changed until something outside is mended. What passes
// by itself, and what is meant, is none.
func Failures() []core.Reason {
	return []core.Reason{
		core.ReasonBackoff, core.ReasonBudget, core.ReasonBreaker, core.ReasonManagedElsewhere, core.ReasonPolicyInvalid, core.ReasonOverrideInvalid, core.ReasonJobAmbiguous,
		core.ReasonMetricsFrozen, core.ReasonMetricsMissing, core.ReasonIncomplete, core.ReasonTMSilent, core.ReasonUnreachable, core.ReasonNoLeader,
		core.ReasonUnauthorized, core.ReasonNotFlink, core.ReasonRefused, core.ReasonNotAdaptive, core.ReasonCheckpoints, core.ReasonStorage,
		core.ReasonNoCheckpoints, core.ReasonNoSlots, core.ReasonNotReached, core.ReasonInternal,
		core.ReasonForeignWriter, core.ReasonForward, core.ReasonDegraded, core.ReasonJobFailing, core.ReasonRestartLoop, core.ReasonBelowBefore, core.ReasonLagObjective,
		core.ReasonSavepoint, core.ReasonLeftStopped,
		core.ReasonRival, core.ReasonNoSafeWay, core.ReasonNoRoom, core.ReasonNotCarried,
	}
}

// failed tells that the job cannot be judged or changed.
func (m *maker) failed(h core.Health) {
	switch {
	case m.d.Verdict != core.Hold || !slices.Contains(Failures(), m.d.Reason):
		return
	case h == core.Starting || h == core.Watching || h == core.Rescaling:
		return
	case m.d.Reason == core.ReasonPolicyInvalid:
		m.invalid()
		return
	}
	m.add(core.EventError, AutoscalerError, true, []string{string(m.d.Reason)}, string(m.d.Reason)+after(": ", m.d.Note)+after("; ", advice(m.d.Reason)))
}

func (m *maker) invalid() {
	var lines []string
	for _, p := range m.d.Problems {
		lines = append(lines, p.String())
	}
	text := strings.Join(lines, "; ")
	if text == "" {
		text = m.d.Note
	}
	m.add(core.EventError, OptionsValidation, true, []string{positive(javaHash(text))}, text)
}

// advice is what a person can do about a reason.
func advice(r core.Reason) string {
	for _, i := range core.Reasons() {
		if i.Reason == r {
			return i.Do
		}
	}
	return ""
}
