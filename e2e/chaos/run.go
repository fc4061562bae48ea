package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"flinkscaler/core"
)

// Settings say what to run.
type Settings struct {
	Seed   uint64
	Faults int
	// Simulated uses a simulated Flink in place of a real one.
	Simulated bool
	// Dir is an existing folder for data and logs, Builds two builds of the worker.
	Dir    string
	Builds [2]string
	Out    io.Writer
}

// Numbers of jobs on one cluster.
const (
	realOrdered, realLoaded           = 3, 1
	simulatedOrdered, simulatedLoaded = 6, 2
)

// Build builds the worker twice, as two versions of it.
func Build(ctx context.Context, dir string) ([2]string, error) {
	var out [2]string
	for i := range out {
		out[i] = filepath.Join(dir, fmt.Sprintf("worker-build-%d", i+1))
		cmd := exec.CommandContext(ctx, "go", "build", "-o", out[i], "-ldflags", fmt.Sprintf("-X main.version=chaos-%d", i+1), "flinkscaler/worker")
		if b, err := cmd.CombinedOutput(); err != nil {
			return out, fmt.Errorf("build the worker: %w\n%s", err, b)
		}
	}
	return out, nil
}

// Report is what came of a run.
type Report struct {
	Seed     uint64
	Injected []Injected
	// Missing is how many planned faults were not injected.
	Missing int
	Verdict Verdict
	// Evidence is what was recorded of the jobs with which something is wrong.
	Evidence []string
	Took     time.Duration
}

// Injected is a fault that was injected.
type Injected struct {
	Fault   Fault
	Outcome string
	Took    time.Duration
}

// Failed is true when something is wrong, or not everything was injected.
func (r Report) Failed() bool { return r.Verdict.Failed() || r.Missing > 0 }

// Last is the line for programs.
func (r Report) Last() string {
	return fmt.Sprintf("chaos: faults=%d wrong_scale_downs=%d double_rescales=%d lost_decisions=%d seed=%d",
		len(r.Injected), len(r.Verdict.WrongScaleDowns), len(r.Verdict.DoubleRescales), len(r.Verdict.LostDecisions), r.Seed)
}

// plan says what is injected where. One simulated cluster gets so many faults at
// most.
func (s Settings) plan() Plan {
	const most = 250
	p := Plan{Seed: s.Seed, Faults: s.Faults, Clusters: 2, Ordered: realOrdered, Loaded: realLoaded}
	if s.Simulated {
		p.Clusters *= 1 + (s.Faults-1)/(2*most)
		p.Ordered, p.Loaded = simulatedOrdered, simulatedLoaded
	}
	return p
}

// Run injects the faults of a seed: half of them on clusters with HA, half on
// clusters without.
func Run(ctx context.Context, s Settings) (Report, error) {
	began := time.Now()
	r := &runner{Settings: s}
	r.report.Seed = s.Seed
	p := s.plan()
	faults := p.Make()
	var worlds sync.WaitGroup
	problems := make([]error, p.Clusters)
	for i := range p.Clusters {
		run := func() { problems[i] = r.world(ctx, p, i, faults) }
		if s.Simulated {
			worlds.Go(run) // they wait most of the time
			continue
		}
		run()
	}
	worlds.Wait()
	if err := errors.Join(problems...); err != nil {
		return r.report, err
	}
	r.report.Missing = s.Faults - len(r.report.Injected)
	r.report.Took = time.Since(began)
	return r.report, nil
}

func withHA(cluster int) bool { return cluster%2 == 0 }

type runner struct {
	Settings
	mu     sync.Mutex
	report Report
}

func (r *runner) say(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, _ = fmt.Fprintf(r.Out, "chaos: "+format+"\n", args...)
}

func (r *runner) done(f Fault, e End, took time.Duration) {
	outcome, why := "stuck", ""
	if o := e.Last; e.Stuck == "" && o != nil {
		outcome = string(o.Kind)
		if o.Kind != core.Applied {
			why = fmt.Sprintf(" (%s: %s)", o.Reason, o.Note)
		}
	}
	r.mu.Lock()
	if e.Injected {
		r.report.Injected = append(r.report.Injected, Injected{f, outcome, took})
	}
	n := len(r.report.Injected)
	r.mu.Unlock()
	r.say("%d/%d %s: %s in %.0f s%s", n, r.Faults, f.text(), outcome, took.Seconds(), why)
	if e.Stuck != "" {
		r.say("fault %d is not healed: %s", f.Number, e.Stuck)
	}
}

// world runs its part of the plan on a cluster of its own.
func (r *runner) world(ctx context.Context, p Plan, cluster int, faults []Fault) (err error) {
	ha := withHA(cluster)
	name := fmt.Sprintf("cluster %d (%s)", cluster+1, map[bool]string{true: "with HA", false: "without HA"}[ha])
	dir, err := os.MkdirTemp(r.Dir, "chaos-")
	if err != nil {
		return err
	}
	r.say("%s: data and logs in %s", name, dir)
	c, err := r.cluster(ctx, p, ha, dir)
	if err != nil {
		return err
	}
	w, err := newWorld(ctx, dir, c, r.Builds, p, r.say)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go w.supervise(watching)
	var drivers sync.WaitGroup
	for i, j := range w.jobs {
		drivers.Go(func() { w.drive(ctx, j, of(faults, cluster, i), r.done) })
	}
	drivers.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	w.lay(ctx)
	record, err := w.record(ctx)
	if err != nil {
		return err
	}
	r.judge(record, name)
	return nil
}

func (r *runner) cluster(ctx context.Context, p Plan, ha bool, dir string) (cluster, error) {
	if r.Simulated {
		return newSimulated(ha, (p.failing()+2)*mostSlots)
	}
	return newReal(ctx, ha, dir, r.Out)
}

func (r *runner) judge(record Record, phase string) {
	v := Judge(record)
	r.say("%s: %d writes for %d decisions, %d rescales, %d orders", phase, len(record.Writes), len(record.Asks), len(record.Rescales), len(record.Orders))
	r.mu.Lock()
	defer r.mu.Unlock()
	all := &r.report.Verdict
	all.WrongScaleDowns = append(all.WrongScaleDowns, v.WrongScaleDowns...)
	all.DoubleRescales = append(all.DoubleRescales, v.DoubleRescales...)
	all.LostDecisions = append(all.LostDecisions, v.LostDecisions...)
	for _, l := range record.lines() {
		if v.about(l.job) {
			r.report.Evidence = append(r.report.Evidence, phase+" "+l.text)
		}
	}
}

// line is one thing that happened to a job.
type line struct {
	at        time.Time
	job, text string
}

// lines tells a record in the order of time, for the search of a cause.
func (r Record) lines() []line {
	var out []line
	add := func(at time.Time, job, format string, args ...any) {
		out = append(out, line{at, job, at.UTC().Format("15:04:05.000") + " " + job + " " + fmt.Sprintf(format, args...)})
	}
	for _, w := range r.Writes {
		add(w.At, w.Job, "write %s/%d: %s -> %s status %d repeat %v", w.JobID, w.Life, uppers(w.Before), uppers(w.Body), w.Status, w.Repeat)
	}
	for _, a := range r.Asks {
		add(a.From, a.Job, "decision %s (%s) applied until %s on %s: %s", a.Decision, a.Cause, a.Until.UTC().Format("15:04:05.000"), a.JobID, uppers(a.Wish))
	}
	for _, o := range r.Orders {
		add(o.Sent, o.Job, "order %s: %d", o.ID, o.Parallelism)
	}
	for _, x := range r.Rescales {
		if o := x.Outcome; o != nil {
			add(o.EndedAt, x.Job, "decision %s ended %s %s: %s", x.Decision, o.Kind, o.Reason, o.Note)
		}
	}
	for _, n := range r.Needs {
		add(n.Since, n.Job, "needs %v", n.Least)
	}
	for _, e := range r.Ends {
		add(e.At, e.Job, "fault %d (%s at %s) is over", e.Fault.Number, e.Fault.Kind, e.Fault.Step)
	}
	slices.SortStableFunc(out, func(a, b line) int { return a.at.Compare(b.at) })
	return out
}

// Write prints what was found, with its evidence, how long each kind took, and
// the line for programs.
func (r Report) Write(w io.Writer) {
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	for _, l := range r.Evidence {
		p("evidence: %s", l)
	}
	for _, list := range []struct {
		what  string
		found []string
	}{{"wrong scale-down", r.Verdict.WrongScaleDowns}, {"double rescale", r.Verdict.DoubleRescales}, {"lost decision", r.Verdict.LostDecisions}} {
		for _, f := range list.found {
			p("%s: %s", list.what, f)
		}
	}
	p("%-18s %5s %8s %8s  outcomes", "kind", "n", "mean s", "most s")
	for _, k := range kinds() {
		r.row(p, k.kind)
	}
	if r.Missing > 0 {
		p("%d planned faults were not injected", r.Missing)
	}
	p("took %s", r.Took.Round(time.Second))
	p("%s", r.Last())
}

func (r Report) row(p func(string, ...any), k Kind) {
	var total, most time.Duration
	n, outcomes := 0, map[string]int{}
	for _, i := range r.Injected {
		if i.Fault.Kind == k {
			n++
			total += i.Took
			most = max(most, i.Took)
			outcomes[i.Outcome]++
		}
	}
	if n == 0 {
		return
	}
	var parts []string
	for _, o := range []string{string(core.Applied), string(core.Partial), string(core.Rejected), string(core.Undone), string(core.Failed), "stuck"} {
		if outcomes[o] > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", o, outcomes[o]))
		}
	}
	p("%-18s %5d %8.1f %8.1f  %s", k, n, total.Seconds()/float64(n), most.Seconds(), strings.Join(parts, ", "))
}
