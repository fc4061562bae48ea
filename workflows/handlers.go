package workflows

import (
	"fmt"
	"slices"
	"strings"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"flinkscaler/activities"
	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/core/spec"
)

// Answer is what an update gives back.
type Answer struct {
	// Message says what was done, for a person.
	Message string `json:"message"`
	// Sizes are what an order will change, as the job was last seen.
	Sizes []SizeChange `json:"sizes,omitempty"`
	// Policy are the keys that set-policy changed.
	Policy []policy.Changed `json:"policy,omitempty"`
	Status Status           `json:"status"`
}

// orders lists the messages with the description that `temporal workflow
// metadata` shows.
func orders() []struct{ name, description string } {
	return []struct{ name, description string }{
		{MsgPause, `Change nothing until resumed; observing goes on. {"by": "ann", "reason": "release", "for": "2 h"}, all optional; "until": a time instead of "for".`},
		{MsgResume, `End a pause. {"by": "ann"}, optional.`},
		{MsgOverride, `Pin the size: {"parallelism": 4} for all, or {"vertices": {"<vertex id or exact name>": 4}}; optional "for" or "until", "by", "reason".`},
		{MsgClearOverride, `End an override. {"by": "ann"}, optional.`},
		{MsgUndo, `Go back to the size before the last change, for an hour: all fields are optional; "for" or "until", "by", "reason".`},
		{MsgApprove, `Approve a proposal: {"decision": "<id>"}; optional "by", "reason". It is carried out as far as a fresh look asks for it.`},
		{MsgReject, `Reject a proposal: {"decision": "<id>"}; optional "by", "reason". The same is not proposed again for a while, unless it grows.`},
		{MsgSetPolicy, `Set policy keys above all other layers: {"policy": {"<key>": "<value>" or null to remove it}}; optional "for" or "until", "by", "reason".`},
		{MsgEvaluateNow, `Look and decide now instead of at the next cycle.`},
	}
}

// handle registers every query, update and signal. It comes before the first
// blocking call, so that an early message never meets an unknown name.
func (l *loop) handle(ctx workflow.Context) error {
	if err := l.handleQueries(ctx); err != nil {
		return err
	}
	for _, o := range orders() {
		if err := l.handleUpdate(ctx, o.name, o.description); err != nil {
			return err
		}
		l.signals = append(l.signals, signal{o.name, workflow.GetSignalChannelWithOptions(ctx, o.name, workflow.SignalChannelOptions{Description: o.description})})
	}
	for _, h := range heard() {
		l.signals = append(l.signals, signal{h.name, workflow.GetSignalChannelWithOptions(ctx, h.name, workflow.SignalChannelOptions{Description: h.description})})
	}
	workflow.GoNamed(ctx, "signals", l.pump)
	return nil
}

type signal struct {
	name    string
	channel workflow.ReceiveChannel
}

// pump takes signals as they come, also while an activity runs.
func (l *loop) pump(ctx workflow.Context) {
	sel := workflow.NewSelector(ctx)
	for _, s := range l.signals {
		sel.AddReceive(s.channel, func(workflow.ReceiveChannel, bool) { l.drain(ctx, s) })
	}
	sel.AddReceive(l.strays, func(c workflow.ReceiveChannel, _ bool) {
		c.ReceiveAsync(nil)
		l.stray(ctx)
	})
	for {
		sel.Select(ctx)
	}
}

// drain takes everything that waits in a signal's channel. The payload is
// taken raw: one that does not decode must not block the channel.
func (l *loop) drain(ctx workflow.Context, s signal) {
	for {
		var raw converter.RawValue
		if !s.channel.ReceiveAsync(&raw) {
			return
		}
		switch s.name {
		case activities.SignalSlotsGranted, activities.SignalSlotsPlace:
			l.hear(ctx, raw)
		default:
			l.receive(ctx, s.name, raw)
		}
	}
}

// drainAll empties every channel; nothing may be left at continue-as-new.
func (l *loop) drainAll(ctx workflow.Context) {
	for _, s := range l.signals {
		l.drain(ctx, s)
	}
	l.stray(ctx)
}

// stray takes the signals whose name nobody knows: who mistyped one must see it.
// It changes nothing but what is shown. It must not run while the pump has a signal
// in its hand: to ask for the names puts the next one of each channel where the
// pump is about to put its own, which loses one of the two.
func (l *loop) stray(ctx workflow.Context) {
	for _, name := range slices.Sorted(slices.Values(workflow.GetUnhandledSignalNames(ctx))) {
		if slices.ContainsFunc(l.signals, func(s signal) bool { return s.name == name }) {
			continue
		}
		channel := workflow.GetSignalChannel(ctx, name)
		for channel.ReceiveAsync(new(converter.RawValue)) {
			l.s.reject(ctx, spec.Cut(name, maxTitle), problemOf("signal", "no such message; known are %s", strings.Join(messageNames(), ", ")))
		}
	}
}

// messageNames lists the messages.
func messageNames() []string {
	var out []string
	for _, o := range orders() {
		out = append(out, o.name)
	}
	return out
}

// countMessage counts a message that was carried out or refused. Names that
// nobody knows are one, so that no person makes a series.
func countMessage(ctx workflow.Context, cluster, name string, done bool) {
	result := "refused"
	if done {
		result = "done"
	}
	if !slices.Contains(messageNames(), name) {
		name = "unknown"
	}
	workflow.GetMetricsHandler(ctx).WithTags(map[string]string{"cluster": cluster, "message": name, "result": result}).Counter(MetricMessages).Inc(1)
}

// receive applies a signal; a malformed one is kept as rejected and shown.
func (l *loop) receive(ctx workflow.Context, name string, raw converter.RawValue) {
	if !l.knows(ctx, name) {
		l.s.reject(ctx, name, problemOf(name, "came to a run that began with a version that did not know it; give it as an update instead (flinkscaler does), or again when the job has a new run"))
		return
	}
	m, problems := decode(name, data(raw), workflow.Now(ctx).UTC())
	if len(problems) == 0 {
		_, problems = l.order(ctx, m)
	}
	if len(problems) > 0 {
		l.s.reject(ctx, name, problems)
		workflow.GetLogger(ctx).Warn("signal rejected, nothing was done", "job", l.s.Spec.Key.String(), "message", name, "error", joined(problems))
		l.changed(ctx)
	}
}

// knows is false for a signal that a run got before the code knew it. Such a
// signal lay in its channel and led to no command; to carry it out when the
// history is replayed would command a look at once. An update of a name that is
// not known leaves no trace in history, so that only signals are asked about.
// The answer holds for the rest of the run.
func (l *loop) knows(ctx workflow.Context, name string) bool {
	if !slices.Contains(laterMessages(), name) {
		return true
	}
	return workflow.GetVersion(ctx, "message-"+name, workflow.DefaultVersion, 1) != workflow.DefaultVersion
}

// laterMessages are those that the first version did not know.
func laterMessages() []string { return []string{MsgUndo, MsgApprove, MsgReject, MsgSetPolicy} }

// judgement is what an order would do, or why it cannot be carried out. What
// it depends on besides the state, such as the table of policy keys, changes
// with the code: it is recorded in history, so that a replay comes to the same.
type judgement struct {
	Problems []core.Problem `json:"problems,omitempty"`
	// Changes and Remaining are of set-policy: what is otherwise in force, and
	// how many problems there are elsewhere.
	Changes   []policy.Changed `json:"changes,omitempty"`
	Remaining int              `json:"remaining,omitempty"`
	// Attempt, Sizes and Told are of undo: which rescale, the sizes before it, and
	// what is otherwise than it was then.
	Attempt int               `json:"attempt,omitempty"`
	Sizes   []core.VertexSize `json:"sizes,omitempty"`
	Told    []string          `json:"told,omitempty"`
}

func (s *State) judge(m message) judgement {
	switch m.Name {
	case MsgUndo:
		return s.undo()
	case MsgApprove, MsgReject:
		return s.answerable(m)
	case MsgSetPolicy:
		return s.revise(m)
	}
	return judgement{}
}

// judged is judge, recorded for the messages that need it.
func (l *loop) judged(ctx workflow.Context, m message) (judgement, error) {
	var j judgement
	if !slices.Contains(laterMessages(), m.Name) {
		return l.s.judge(m), nil
	}
	err := workflow.SideEffect(ctx, func(workflow.Context) any { return l.s.judge(m) }).Get(&j)
	return j, err
}

// order applies a message once per id and wakes the loop.
func (l *loop) order(ctx workflow.Context, m message) (Answer, []core.Problem) {
	if l.s.seen(m.ID) {
		return Answer{Message: "this message id was already carried out"}, nil
	}
	j, err := l.judged(ctx, m)
	if err != nil {
		return Answer{}, problemOf(m.Name, "could not be judged: %v", err)
	}
	if len(j.Problems) > 0 {
		return Answer{}, j.Problems
	}
	now := workflow.Now(ctx).UTC()
	l.s.remember(m.ID)
	a := l.s.apply(m, j, now)
	l.s.Orders++
	countMessage(ctx, l.s.Spec.Key.Cluster, m.Name, true)
	l.s.asks(m.Name, now)
	workflow.GetLogger(ctx).Info("order of an operator", "job", l.s.Spec.Key.String(), "message", m.Name, "by", m.By, "result", a.Message)
	l.hurry(now)
	l.changed(ctx)
	return a, nil
}

func (l *loop) handleUpdate(ctx workflow.Context, name, description string) error {
	return workflow.SetUpdateHandlerWithOptions(ctx, name,
		func(ctx workflow.Context, raw converter.RawValue) (Answer, error) {
			m, problems := decode(name, data(raw), workflow.Now(ctx).UTC())
			if len(problems) > 0 {
				return Answer{}, invalid(problems)
			}
			m.ID = workflow.GetCurrentUpdateInfo(ctx).ID
			a, problems := l.order(ctx, m)
			if len(problems) > 0 {
				return Answer{}, invalid(problems)
			}
			a.Status = l.s.status()
			return a, nil
		},
		workflow.UpdateHandlerOptions{
			Description: description,
			Validator: func(ctx workflow.Context, raw converter.RawValue) error {
				m, problems := decode(name, data(raw), workflow.Now(ctx).UTC())
				if len(problems) == 0 && !l.s.seen(workflow.GetCurrentUpdateInfo(ctx).ID) {
					problems = l.s.judge(m).Problems
				}
				if len(problems) > 0 {
					countMessage(ctx, l.s.Spec.Key.Cluster, name, false)
					return invalid(problems)
				}
				return nil
			},
		})
}

func (l *loop) handleQueries(ctx workflow.Context) error {
	for _, q := range []struct {
		name, description string
		handler           any
	}{
		{QueryStatus, "What it does now, and why.", func() (Status, error) { return l.s.status(), nil }},
		{QueryExplain, "The last decision with its arithmetic, as lines of text.", func() ([]string, error) { return l.s.explain(), nil }},
		{QueryHistory, "Decisions, rescales and orders, oldest first; rows of equal decisions are one entry.", func() (History, error) { return l.s.history(), nil }},
		{QueryPolicy, "Every policy key with its value and where it comes from.", func() (Policy, error) { return l.s.policy(), nil }},
	} {
		if err := workflow.SetQueryHandlerWithOptions(ctx, q.name, q.handler, workflow.QueryHandlerOptions{Description: q.description}); err != nil {
			return err
		}
	}
	return nil
}

// data gives the bytes of a payload, nil for none.
func data(raw converter.RawValue) []byte { return raw.Payload().GetData() }

// invalid is the one error for bad input: it lists every problem.
func invalid(problems []core.Problem) error {
	return temporal.NewApplicationErrorWithOptions(joined(problems), activities.ErrTypeInvalidInput, temporal.ApplicationErrorOptions{
		NonRetryable: true, Category: temporal.ApplicationErrorCategoryBenign, Details: []any{problems},
	})
}

func joined(problems []core.Problem) string {
	lines := make([]string, 0, len(problems))
	for _, p := range problems {
		lines = append(lines, p.String())
	}
	if len(lines) == 1 {
		return lines[0]
	}
	return fmt.Sprintf("%d problems:\n  %s", len(lines), strings.Join(lines, "\n  "))
}
