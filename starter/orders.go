package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/core/spec"
	"flinkscaler/internal/flags"
	"flinkscaler/starter/view"
	"flinkscaler/workflows"
)

// orderFlags are those of every order.
type orderFlags struct {
	by, reason, id string
	signal         bool
	period         period
	until          moment
	parallelism    int
	vertices       []string
	policy, remove []string
}

func newOrders(a *app) []*cobra.Command {
	return []*cobra.Command{newPause(a), newResume(a), newOverride(a), newClearOverride(a), newUndo(a), newApprove(a), newReject(a), newSetPolicy(a), newEvaluateNow(a)}
}

func newPause(a *app) *cobra.Command {
	return a.fleetCommand(workflows.MsgPause, &cobra.Command{
		Use: "pause (JOB | --cluster CLUSTER | --all)", Short: "Change nothing until resumed; observing goes on",
		Long: `Change nothing of a job until it is resumed, or for a time. It is still observed,
and what would be done is shown. A rescale that is under way is not broken off.
` + fleetLong,
		Example: `  flinkscaler pause dev/orders
  flinkscaler pause dev/orders --for 2h --reason "release 1.7"
  flinkscaler pause dev/orders --until 18:30
  flinkscaler pause --cluster prod-eu --for 4h --reason "network change"`,
	})
}

func newResume(a *app) *cobra.Command {
	return a.fleetCommand(workflows.MsgResume, &cobra.Command{
		Use: "resume (JOB | --cluster CLUSTER | --all)", Short: "End a pause",
		Long: `End a pause: the next decision is made at once, and carried out. Who paused a job does
not matter.
` + fleetLong,
		Example: `  flinkscaler resume dev/orders
  flinkscaler resume --cluster prod-eu --yes`,
	})
}

func newOverride(a *app) *cobra.Command {
	return a.orderCommand(workflows.MsgOverride, &cobra.Command{
		Use: "override JOB (--parallelism N | --vertex NAME=N ...)", Short: "Pin the size of a job, or of some of its vertices",
		Long: `Pin the size of all vertices of a job, or of some of them, until it is cleared or
for a time. A vertex is given by its id or by its exact name; the last = separates
it from the number. Vertices that are not named stay as they are. While a job is
paused the override waits.`,
		Example: `  flinkscaler override dev/orders --parallelism 8 --for 2h --reason "sale"
  flinkscaler override dev/orders --vertex "Source: orders=4" --vertex Enrich=12`,
	})
}

func newClearOverride(a *app) *cobra.Command {
	return a.orderCommand(workflows.MsgClearOverride, &cobra.Command{
		Use: "clear-override JOB", Short: "End an override",
		Long:    "End an override: the size is decided by the policy again.",
		Example: "  flinkscaler clear-override dev/orders",
	})
}

func newUndo(a *app) *cobra.Command {
	return a.orderCommand(workflows.MsgUndo, &cobra.Command{
		Use: "undo JOB", Short: "Go back to the size before the last change, for a time",
		Long: `Go back to the size before the last change that had an effect, as an override for
an hour or for the time given. The answer says what will change, and which vertices
are no longer as that change left them. After that the policy decides again, unless
something is set with override or set-policy. An undo can itself be undone.`,
		Example: `  flinkscaler undo dev/orders
  flinkscaler undo dev/orders --for 8h --reason "state too large for 4"`,
	})
}

func newApprove(a *app) *cobra.Command {
	return a.answerCommand(workflows.MsgApprove, &cobra.Command{
		Use: "approve JOB DECISION", Short: "Approve a change that waits for a yes",
		Long: `Approve a change that waits for a person's yes, by the id that status shows. The job
is looked at anew: what that asks for is carried out at once, no farther than was
approved; more is a new proposal after it, and so is something else. What was
rejected, or replaced by a new proposal, not long ago can still be approved.`,
		Example: `  flinkscaler approve dev/orders 42-1796040000
  flinkscaler approve dev/orders 42-1796040000 --reason "sale"`,
	})
}

func newReject(a *app) *cobra.Command {
	return a.answerCommand(workflows.MsgReject, &cobra.Command{
		Use: "reject JOB DECISION", Short: "Reject a change that waits for a yes",
		Long: `Reject a change that waits for a person's yes, by the id that status shows. The same
is not proposed again for the time of the policy's approval.quiet, unless it grows.
What was approved can be rejected as long as it is not carried out.`,
		Example: `  flinkscaler reject dev/orders 42-1796040000 --reason "not before the release"`,
	})
}

func newSetPolicy(a *app) *cobra.Command {
	return a.orderCommand(workflows.MsgSetPolicy, &cobra.Command{
		Use: "set-policy JOB (--policy KEY=VALUE | --remove KEY) ...", Short: "Set policy keys of a running job, or take such settings back",
		Long: `Set policy keys of a running job above what its input, its own configuration and
the cluster's default say, for good or for a time. Keys that are not named stay as
they are. --remove takes a key back that was set like this: what the other layers
say holds again. All is checked together, with every problem at once; with any,
nothing changes. The answer says what is in force otherwise than before.`,
		Example: `  flinkscaler set-policy dev/orders --policy vertex.max-parallelism=40 --reason "sale"
  flinkscaler set-policy dev/orders --policy scaling.enabled=false --for 2h
  flinkscaler set-policy dev/orders --remove vertex.max-parallelism`,
	})
}

func newEvaluateNow(a *app) *cobra.Command {
	return a.fleetCommand(workflows.MsgEvaluateNow, &cobra.Command{
		Use: "evaluate-now (JOB | --cluster CLUSTER | --all)", Short: "Look and decide now instead of at the next cycle",
		Long: `Look at the job and decide now instead of at the next cycle, and show what was
decided; of many jobs list shows it.
` + fleetLong,
		Example: `  flinkscaler evaluate-now dev/orders
  flinkscaler evaluate-now --cluster prod-eu --yes`,
	})
}

// answerCommand completes the command of an answer to a proposal.
func (a *app) answerCommand(name string, cmd *cobra.Command) *cobra.Command {
	cmd = a.orderCommand(name, cmd)
	cmd.ValidArgsFunction = a.completeProposals
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 2 && strings.TrimSpace(args[1]) != "" && len(args[1]) <= maxText {
			return nil
		}
		do := "Usage: flinkscaler " + cmd.Use + "\nThe id is in: flinkscaler status JOB"
		return usage(fmt.Sprintf("%s takes a job and the id of a proposal, got %d arguments", cmd.Name(), len(args)), do)
	}
	return cmd
}

// orderCommand completes the command of an order for one job.
func (a *app) orderCommand(name string, cmd *cobra.Command) *cobra.Command {
	f := a.orderFlags(name, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return a.giveOne(name, f, cmd, args) }
	return cmd
}

// orderFlags registers the flags of an order.
func (a *app) orderFlags(name string, cmd *cobra.Command) *orderFlags {
	f := &orderFlags{}
	cmd.GroupID, cmd.Args, cmd.ValidArgsFunction = groupOrder, oneJob, a.completeJobs
	set := cmd.Flags()
	set.StringVar(&f.by, "by", a.user(), "who orders it")
	set.StringVar(&f.reason, "reason", "", "why, for those who look later")
	set.StringVar(&f.id, "id", "", "id of the order: a repeated id has one effect")
	set.BoolVar(&f.signal, "signal", false, "leave the order with the server and do not wait for an answer")
	switch name {
	case workflows.MsgPause, workflows.MsgOverride, workflows.MsgUndo, workflows.MsgSetPolicy:
		set.Var(&f.period, "for", "how long, such as 2h, 30m or \"30 min\"")
		f.until.now = a.now
		set.Var(&f.until, "until", "until when: 18:30 or \"2026-11-30 18:30\" on this machine's clock, or 2026-11-30T18:30:00Z")
	}
	if name == workflows.MsgOverride {
		set.IntVar(&f.parallelism, "parallelism", 0, "parallelism of all vertices")
		set.StringArrayVar(&f.vertices, "vertex", nil, "NAME=N or ID=N, parallelism of one vertex; repeat for more")
		_ = cmd.RegisterFlagCompletionFunc("vertex", a.completeVertices)
	}
	if name == workflows.MsgSetPolicy {
		set.StringArrayVar(&f.policy, "policy", nil, "KEY=VALUE, a policy key; repeat for more")
		set.StringArrayVar(&f.remove, "remove", nil, "KEY to take back; repeat for more")
		_ = cmd.RegisterFlagCompletionFunc("policy", completeKeys)
		_ = cmd.RegisterFlagCompletionFunc("remove", a.completeSetKeys)
	}
	return f
}

// giveOne gives an order to the job of the first argument.
func (a *app) giveOne(name string, f *orderFlags, cmd *cobra.Command, args []string) error {
	payload, err := f.payload(name, cmd.Flags().Changed("parallelism"))
	if err != nil {
		return err
	}
	if len(args) > 1 {
		payload["decision"] = args[1]
	}
	return a.job(func(ctx context.Context, s *session, key core.JobKey) error {
		return s.order(ctx, key, *f, order{WorkflowID: spec.ID(key), Name: name, ID: f.id, Payload: payload})
	})(cmd, args)
}

// The workflow's own limits, checked here so that a signal, which nobody
// answers, is right as well.
const (
	maxText = 200
	maxSize = 1 << 15
)

// payload is the message's JSON.
func (f orderFlags) payload(name string, all bool) (map[string]any, error) {
	out := map[string]any{}
	for k, v := range map[string]string{"by": f.by, "reason": f.reason} {
		if len(v) > maxText {
			return nil, usage(fmt.Sprintf("--%s must have at most %d bytes, got %d", k, maxText, len(v)), "")
		}
		if v != "" {
			out[k] = v
		}
	}
	if len(f.id) > maxText {
		return nil, usage(fmt.Sprintf("--id must have at most %d bytes, got %d", maxText, len(f.id)), "")
	}
	if f.period > 0 && f.until.given() {
		return nil, usage("give either --for or --until, one of them", "")
	}
	if f.until.given() {
		out["until"] = f.until.String()
	}
	if f.period > 0 {
		out["for"] = policy.FormatDuration(time.Duration(f.period))
	}
	switch name {
	case workflows.MsgOverride:
		return out, f.sizes(out, all)
	case workflows.MsgSetPolicy:
		return out, f.keys(out)
	}
	return out, nil
}

// keys adds what is set and what is taken back.
func (f orderFlags) keys(out map[string]any) error {
	given, problems := flags.Policy(f.policy)
	edits := make(map[string]any, len(given)+len(f.remove))
	for k, v := range given {
		edits[k] = v
	}
	for _, k := range f.remove {
		key := flags.FullKey(strings.TrimSpace(k))
		if _, twice := edits[key]; twice {
			problems = append(problems, fmt.Sprintf("--remove %q: is given twice", k))
			continue
		}
		edits[key] = nil
	}
	for _, k := range slices.Sorted(maps.Keys(edits)) {
		if !policy.Known(k) {
			problems = append(problems, fmt.Sprintf("%q: no such policy key", k))
		}
	}
	if len(problems) == 0 && len(edits) == 0 {
		return usage("give at least one of --policy KEY=VALUE and --remove KEY", "Such as: flinkscaler set-policy dev/orders --policy vertex.max-parallelism=40")
	}
	if len(problems) > 0 {
		bad := usage("the policy cannot be used", "All keys: flinkscaler policy keys")
		bad.details = problems
		return bad
	}
	out["policy"] = edits
	return nil
}

// sizes adds what an override pins.
func (f orderFlags) sizes(out map[string]any, all bool) error {
	if all == (len(f.vertices) > 0) {
		return usage("give either --parallelism N or --vertex NAME=N, one of them", `Such as: flinkscaler override dev/orders --vertex "Source: orders=4"`)
	}
	if all {
		out["parallelism"] = f.parallelism
		if f.parallelism < 1 || f.parallelism > maxSize {
			return usage(fmt.Sprintf("--parallelism must be from 1 to %d, got %d", maxSize, f.parallelism), "")
		}
		return nil
	}
	vertices := map[string]int{}
	bad := usage("the vertices cannot be used", `Give each as NAME=N, such as --vertex "Source: orders=4".`)
	for _, text := range f.vertices {
		name, n, err := parseVertex(text)
		if _, twice := vertices[name]; twice && err == nil {
			err = fmt.Errorf("is given twice")
		}
		if err != nil {
			bad.details = append(bad.details, fmt.Sprintf("%q: %v", text, err))
			continue
		}
		vertices[name] = n
	}
	if len(bad.details) > 0 {
		return bad
	}
	out["vertices"] = vertices
	return nil
}

// parseVertex splits at the last =: names may have one.
func parseVertex(text string) (name string, n int, err error) {
	i := strings.LastIndexByte(text, '=')
	if i < 0 {
		return "", 0, fmt.Errorf("has no =")
	}
	name = text[:i]
	if strings.TrimSpace(name) == "" {
		return "", 0, fmt.Errorf("has no name before the =")
	}
	n, err = strconv.Atoi(strings.TrimSpace(text[i+1:]))
	if err != nil || n < 1 || n > maxSize {
		return "", 0, fmt.Errorf("the number must be from 1 to %d, got %q", maxSize, text[i+1:])
	}
	return name, n, nil
}

// order gives an order and shows the answer.
func (s *session) order(ctx context.Context, key core.JobKey, f orderFlags, o order) error {
	if o.ID == "" {
		o.ID = s.newID()
	}
	if f.signal {
		return s.signalOrder(ctx, key, o)
	}
	if err := s.checkVertices(ctx, key, o); err != nil {
		return err
	}
	callCtx, cancel := s.bounded(ctx)
	defer cancel()
	answer, err := s.srv.Update(callCtx, o)
	if errors.Is(err, errNoWorker) {
		return s.unanswered(ctx, key, o, err)
	}
	if err != nil {
		return s.explain(ctx, key, execution{}, err)
	}
	if o.Name == workflows.MsgEvaluateNow {
		answer = s.awaitEvaluation(ctx, o.WorkflowID, answer)
	}
	if s.json() {
		return s.print(answer)
	}
	fmt.Fprintf(s.out, "%s: %s\n", key, view.Clean(answer.Message))
	if o.Name == workflows.MsgEvaluateNow {
		return view.Frame{Now: s.now(), Width: s.width(), Colour: s.colour()}.Render(s.out, answer.Status)
	}
	return nil
}

// checkVertices finds a mistyped vertex before it becomes a hold. A job that
// shows no vertices yet is left to the worker.
func (s *session) checkVertices(ctx context.Context, key core.JobKey, o order) error {
	wanted, ok := o.Payload["vertices"].(map[string]int)
	if !ok {
		return nil
	}
	st, err := s.status(ctx, o.WorkflowID)
	if err != nil || len(st.Vertices) == 0 {
		return nil //nolint:nilerr // the order itself tells what is wrong
	}
	known := map[string]bool{}
	f := usage("no such vertex", "")
	var names []string
	for _, v := range st.Vertices {
		known[v.ID], known[v.Name] = true, true
		names = append(names, fmt.Sprintf("%s (%s)", view.Clean(v.Name), v.ID))
	}
	for name := range wanted {
		if !known[name] {
			f.details = append(f.details, fmt.Sprintf("%q", name))
		}
	}
	if len(f.details) == 0 {
		return nil
	}
	f.what = fmt.Sprintf("%s has no such vertex", key)
	f.do = "It has " + strings.Join(names, ", ")
	return f
}

// awaitEvaluation waits a while for the cycle that an order asked for.
func (s *session) awaitEvaluation(ctx context.Context, id string, answer workflows.Answer) workflows.Answer {
	cycle := answer.Status.Cycle
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		st, err := s.status(ctx, id)
		if err == nil && st.Cycle > cycle {
			answer.Message, answer.Status = "evaluated", st
			return answer
		}
		select {
		case <-ctx.Done():
			answer.Message = "the evaluation is under way; what follows is from before"
			return answer
		case <-tick.C:
		}
	}
}

const pollEvery = 300 * time.Millisecond

func (s *session) signalOrder(ctx context.Context, key core.JobKey, o order) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if err := s.srv.Signal(ctx, o); err != nil {
		return s.explain(ctx, key, execution{}, err)
	}
	if s.json() {
		return s.print(map[string]string{"message": "signal sent", "id": o.ID})
	}
	fmt.Fprintf(s.out, "%s: the signal %s is with the server; a worker takes it as soon as one runs\n", key, o.Name)
	return nil
}

// unanswered says that nobody answered an order, and offers the signal. The
// same id makes sure that the order is not carried out twice, should the
// update have got through after all.
func (s *session) unanswered(ctx context.Context, key core.JobKey, o order, cause error) error {
	free, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	defer cancel()
	e, err := s.srv.Describe(free, o.WorkflowID)
	if err != nil {
		e = execution{}
	}
	return &failure{
		code: exitFailed, cause: cause,
		what: fmt.Sprintf("no worker answered within %s, so it is not known whether %s will take the order %s", view.Duration(s.timeout), key, o.Name),
		do: noWorker(e.TaskQueue) + "\nOr leave the order with the server for when a worker is back; with this id it is carried out once at most:\n  " +
			repeatCommand(s.args, o.ID, true),
	}
}

// repeatCommand is the same command line with the order's id, as a signal where
// that is wanted.
func repeatCommand(args []string, id string, signal bool) string {
	words := []string{"flinkscaler"}
	for _, a := range args {
		words = append(words, quote(a))
	}
	if signal {
		words = append(words, "--signal")
	}
	if !slices.Contains(args, id) {
		words = append(words, "--id", id)
	}
	return strings.Join(words, " ")
}
