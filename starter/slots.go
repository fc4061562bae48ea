package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"flinkscaler/core"
	"flinkscaler/core/share"
	"flinkscaler/starter/view"
	"flinkscaler/workflows"
)

func newSlots(a *app) *cobra.Command {
	var cluster string
	cmd := &cobra.Command{
		Use: "slots", GroupID: groupLook, Args: noArgs, Short: "Show which jobs of a cluster grow, and which wait for slots",
		Long: `Show who has slots to grow, who waits in which place and why, and what each job
holds, on a cluster whose jobs share a limit (share, in the worker's configuration).`,
		Example: `  flinkscaler slots --cluster dev
  flinkscaler slots --cluster dev -o json | jq '.queue[] | {job, why}'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cluster == "" {
				return usage("slots needs a cluster", "Usage: flinkscaler slots --cluster CLUSTER")
			}
			return a.connected(func(ctx context.Context, s *session, _ []string) error { return s.showSlots(ctx, cluster) })(cmd, args)
		},
	}
	cmd.Flags().StringVar(&cluster, "cluster", "", "the cluster, as the worker's configuration names it")
	_ = cmd.RegisterFlagCompletionFunc("cluster", a.completeClusters)
	return cmd
}

func (s *session) showSlots(ctx context.Context, cluster string) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	e, err := s.srv.Describe(ctx, share.ID(cluster))
	var v workflows.Slots
	if err == nil {
		err = s.srv.Query(ctx, share.ID(cluster), workflows.QuerySlots, &v)
	}
	switch {
	case errors.Is(err, errNotFound):
		return failed(fmt.Sprintf("no job of cluster %s has asked for slots", cluster),
			"They do where the worker's configuration has a section share for the cluster, and a job is to grow.")
	case errors.Is(err, errNoWorker):
		return failed(fmt.Sprintf("no worker answered for %s within %s", share.ID(cluster), view.Duration(s.timeout)), noWorker(e.TaskQueue))
	case err != nil:
		return s.serverError(err)
	}
	if !e.running() {
		fmt.Fprintf(s.err, "nobody asks for slots now (%s %s ago); what follows is what was last known\n", strings.ToLower(e.Status), view.Ago(e.ClosedAt, s.now()))
	}
	if s.json() {
		return s.print(v)
	}
	return s.slotTables(v)
}

func (s *session) slotTables(v workflows.Slots) error {
	fmt.Fprintf(s.out, "%s: %s\n", view.Printable(v.Cluster), slotsLine(v))
	leases := view.Table{Width: s.width(), Columns: []view.Column{
		{Title: "GROWS"}, {Title: "HAD", Align: view.Right}, {Title: "MORE", Align: view.Right}, {Title: "FOR", Align: view.Right}, {Title: "LEASE", Align: view.Right}, {Title: "DECISION"},
	}}
	for _, l := range v.Leases {
		leases.Row(l.Job, fmt.Sprint(l.Held), fmt.Sprintf("+%d", l.Slots), view.Ago(l.Since, s.now()), left(l.Until, s.now()), l.DecisionID)
	}
	queue := view.Table{Width: s.width(), Columns: []view.Column{
		{Title: "WAITS"}, {Title: "PLACE", Align: view.Right}, {Title: "MORE", Align: view.Right}, {Title: "PRIORITY", Align: view.Right}, {Title: "FOR", Align: view.Right}, {Title: "WHY"}, {Title: "NOTE"},
	}}
	for _, p := range v.Queue {
		queue.Row(p.Job, fmt.Sprint(p.Place), fmt.Sprintf("+%d", p.Slots), fmt.Sprint(p.Priority), view.Ago(p.Since, s.now()), whyCell(p), p.Note)
	}
	holds := view.Table{Width: s.width(), Columns: []view.Column{{Title: "HOLDS"}, {Title: "SLOTS", Align: view.Right}, {Title: "SAID", Align: view.Right}}}
	for _, u := range v.Jobs {
		holds.Row(u.Job, fmt.Sprint(u.Held), view.Ago(u.At, s.now())+" ago")
	}
	for _, t := range []*view.Table{&leases, &queue, &holds} {
		if t.Len() == 0 {
			continue
		}
		fmt.Fprintln(s.out)
		if _, err := t.WriteTo(s.out); err != nil {
			return err
		}
	}
	for _, e := range v.Ended {
		fmt.Fprintf(s.out, "\n%s of %s ended by itself %s ago: %s", e.What, view.Printable(e.Job), view.Ago(e.At, s.now()), view.Printable(e.Why))
	}
	if len(v.Ended) > 0 {
		fmt.Fprintln(s.out)
	}
	for _, r := range v.Rejected {
		fmt.Fprintf(s.out, "\nsignal %s was rejected %s ago: %s\n", view.Printable(r.Message), view.Ago(r.At, s.now()), view.Printable(problemsText(r.Problems)))
	}
	return nil
}

func problemsText(problems []core.Problem) string {
	parts := make([]string, 0, len(problems))
	for _, p := range problems {
		parts = append(parts, p.String())
	}
	return strings.Join(parts, "; ")
}

// slotsLine sums up a cluster.
func slotsLine(v workflows.Slots) string {
	text := fmt.Sprintf("%d slots in use", v.Used)
	if v.Limits.Slots > 0 {
		text = fmt.Sprintf("%d of %d slots in use", v.Used, v.Limits.Slots)
	}
	grow := fmt.Sprintf(", %d grow", len(v.Leases))
	if v.Limits.Rescales > 0 {
		grow = fmt.Sprintf(", %d of %d grow", len(v.Leases), v.Limits.Rescales)
	}
	return text + grow + fmt.Sprintf(", %d wait", len(v.Queue))
}

func whyCell(p share.Place) string {
	if p.Reserved {
		return string(p.Why) + " (in front)"
	}
	return string(p.Why)
}

// left is how long it still is until a time.
func left(t, now time.Time) string {
	if !t.After(now) {
		return view.Duration(0)
	}
	return view.Duration(t.Sub(now))
}
