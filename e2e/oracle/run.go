package oracle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"

	"flinkscaler/core/policy"
)

// DefaultSeed makes the cases of a run that names no seed.
const DefaultSeed = 1

// LeastCases is how many cases a run must have to prove anything.
const LeastCases = 5000

// batchSize is how many jobs live side by side: one line to the JVM carries a cycle of each.
const batchSize = 32

// shownDifferences bounds the report.
const shownDifferences = 20

// Settings say what to run.
type Settings struct {
	Seed  uint64
	Cases int
	// Only runs a single case, by number, -1 for all.
	Only int
}

// Trace tells each cycle of a single case, with some switches on, to the first difference.
func Trace(s Settings, quirks policy.Quirk, out io.Writer) error {
	java, err := Start()
	if err != nil {
		return err
	}
	c := &recorded{Case: Generate(s.Seed, s.Only)}
	fmt.Fprintf(out, "%s\n  options: %v\n", c.Case, c.Options)
	for _, v := range c.world.vertices {
		fmt.Fprintf(out, "  %s %s: parallelism %d of %d\n", v.short(), v.name, v.parallelism, v.max)
	}
	if err := errors.Join(playBatch(java, []*recorded{c}), java.Close()); err != nil {
		return err
	}
	o := NewOurs(c.Options, quirks)
	for k, look := range c.looks {
		ours := o.Cycle(look)
		what := Differ(c.java[k], ours)
		fmt.Fprintf(out, "%d %s, running since %s, pending %v: java %v, ours %v (%s)\n", k, look.Status.Now.Format("15:04:05.000"),
			look.Status.RunningSince.Format("15:04:05.000"), look.Pending, c.java[k].Decided, ours.Decided, ours.Note)
		if len(what) > 0 {
			fmt.Fprintf(out, "  DIFFERENT: %v\n  java: %+v\n  ours: %+v\n", what, c.java[k], ours)
			break
		}
	}
	return nil
}

// Report is what a run found.
type Report struct {
	Cases, Cycles, Decisions int
	// Differences are cases that no switch explains; the first of them are told.
	Differences int
	Told        []string
	// Judged counts the cycles with a full window, Alike those of them in which every number and the decision are equal
	// without any switch.
	Judged, Alike int
	// Named counts the cases that differ as is and are equal with the switches on; ByName counts the switches that
	// are needed for it.
	Named  int
	ByName map[policy.Quirk]int
}

// Run compares cases and reports.
func Run(ctx context.Context, s Settings) (Report, error) {
	java, err := Start()
	if err != nil {
		return Report{}, err
	}
	report, err := run(ctx, s, java)
	return report, errors.Join(err, java.Close())
}

func run(ctx context.Context, s Settings, java *Java) (Report, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // nearly all garbage is short-lived
	report := Report{ByName: map[policy.Quirk]int{}}
	todo := make(chan recorded, batchSize)
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for c := range todo {
				r := judge(c)
				mu.Lock()
				report.add(c, r)
				mu.Unlock()
			}
		})
	}
	err := play(ctx, s, java, todo)
	close(todo)
	workers.Wait()
	slices.Sort(report.Told)
	return report, err
}

// recorded is a case that the Java autoscaler has gone through.
type recorded struct {
	Case
	looks []Cycle
	java  []Verdict
}

// play takes all cases through the Java autoscaler, a batch at a time.
func play(ctx context.Context, s Settings, java *Java, to chan<- recorded) error {
	first, last := 0, s.Cases
	if s.Only >= 0 {
		first, last = s.Only, s.Only+1
	}
	for from := first; from < last; from += batchSize {
		var batch []*recorded
		for n := from; n < min(last, from+batchSize); n++ {
			batch = append(batch, &recorded{Case: Generate(s.Seed, n)})
		}
		if err := playBatch(java, batch); err != nil {
			return err
		}
		for _, c := range batch {
			select {
			case to <- *c:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

func (c Case) session() string { return fmt.Sprint(c.Number) }

func playBatch(java *Java, batch []*recorded) error {
	var open, closing []Request
	longest := 0
	for _, c := range batch {
		open = append(open, OpenRequest(c.session(), c.Options))
		closing = append(closing, CloseRequest(c.session()))
		longest = max(longest, c.Cycles)
	}
	if _, err := java.Batch(open); err != nil {
		return err
	}
	for k := range longest {
		if err := playCycle(java, batch, k); err != nil {
			return err
		}
	}
	_, err := java.Batch(closing)
	return err
}

// playCycle shows one cycle of each case that is not over, and lets the worlds know what was decided.
func playCycle(java *Java, batch []*recorded, k int) error {
	var requests []Request
	var of []*recorded
	for _, c := range batch {
		if k >= c.Cycles {
			continue
		}
		pending := c.world.open != nil
		look := c.world.step()
		c.looks = append(c.looks, Cycle{Measurement: Measure(look), Pending: pending && c.world.open != nil, Applied: c.world.applied})
		requests = append(requests, CycleRequest(c.session(), look))
		of = append(of, c)
	}
	answers, err := java.Batch(requests)
	if err != nil {
		return err
	}
	for i, a := range answers {
		if a.Error != "" {
			return fmt.Errorf("%s, cycle %d: %s", of[i].Case, k, a.Error)
		}
		of[i].java = append(of[i].java, JavaVerdict(a))
		if a.Decided {
			of[i].world.decide(a.Overrides)
		}
	}
	return nil
}

// result is how our side did in a case.
type result struct {
	judged, alike int
	// named are the switches that are needed to be equal.
	named policy.Quirk
	// differs tells the first cycle that stays different with all switches.
	differs string
}

// firstDifference goes through a case with some switches until the two sides differ; cycle -1 when they never do.
func (c recorded) firstDifference(quirks policy.Quirk) (cycle int, what []string, ours Verdict) {
	o := NewOurs(c.Options, quirks)
	for k, look := range c.looks {
		ours = o.Cycle(look)
		if what = Differ(c.java[k], ours); len(what) > 0 {
			return k, what, ours
		}
	}
	return -1, nil, ours
}

// judge compares a case, and finds the switches that it takes to be equal.
func judge(c recorded) result {
	r, equal := c.asIs()
	if equal {
		return r
	}
	if k, what, ours := c.firstDifference(policy.AllQuirks); k >= 0 {
		r.differs = fmt.Sprintf("%s, cycle %d:\n    %v\n    java: full %v, %s\n    ours: %s", c.Case, k, what, c.java[k].Full, c.java[k].Note, ours.Note)
		return r
	}
	r.named = c.needed(c.needed(policy.AllQuirks, policy.AllQuirks&^oftenNeeded), oftenNeeded)
	return r
}

// asIs goes through a case without any switch.
func (c recorded) asIs() (r result, equal bool) {
	o := NewOurs(c.Options, 0)
	equal = true
	for k, look := range c.looks {
		same := len(Differ(c.java[k], o.Cycle(look))) == 0
		equal = equal && same
		if c.java[k].Full {
			r.judged++
			if same {
				r.alike++
			}
		}
	}
	return r, equal
}

// oftenNeeded are switches that most cases need. All others can often be taken away at once.
const oftenNeeded = policy.QuirkAlignment | policy.QuirkScaleDownDelay | policy.QuirkNumerator | policy.QuirkWindow

// needed takes those of some switches away that are not needed for the two sides to be equal. Halves are tried at once:
// most switches make no difference to most cases.
func (c recorded) needed(on, some policy.Quirk) policy.Quirk {
	if k, _, _ := c.firstDifference(on &^ some); k < 0 {
		return on &^ some
	}
	if bits.OnesCount32(uint32(some)) == 1 {
		return on
	}
	half := some
	for range bits.OnesCount32(uint32(some)) / 2 {
		half &= half - 1 // drops the lowest
	}
	return c.needed(c.needed(on, half), some&^half)
}

func (r *Report) add(c recorded, one result) {
	r.Cases++
	r.Cycles += len(c.looks)
	r.Judged, r.Alike = r.Judged+one.judged, r.Alike+one.alike
	for _, v := range c.java {
		if v.Decided {
			r.Decisions++
		}
	}
	switch {
	case one.differs != "":
		r.Differences++
		if len(r.Told) < shownDifferences {
			r.Told = append(r.Told, one.differs)
		}
	case one.named != 0:
		r.Named++
		for q := one.named; q != 0; q &= q - 1 {
			r.ByName[policy.Quirk(1)<<bits.TrailingZeros32(uint32(q))]++
		}
	}
}

// Failed is true when the run proves that we are not the same, or proves nothing.
func (r Report) Failed() bool { return r.Differences > 0 || r.Cases < LeastCases }

// Write prints the report. Its last line is for machines.
func (r Report) Write(out io.Writer, s Settings) {
	fmt.Fprintf(out, "oracle: seed %d, %d cycles of %d jobs, %d decisions of the Java autoscaler 1.10.0\n", s.Seed, r.Cycles, r.Cases, r.Decisions)
	fmt.Fprintf(out, "  as it is, without a switch: %d of %d judged cycles are equal in every number\n", r.Alike, r.Judged)
	for _, text := range r.Told {
		fmt.Fprintf(out, "  DIFFERENT: %s\n", text)
	}
	names := policy.Differences()
	slices.SortStableFunc(names, func(a, b policy.Difference) int { return cmp.Compare(r.ByName[b.Quirk], r.ByName[a.Quirk]) })
	for _, d := range names {
		fmt.Fprintf(out, "  named %s (%s): needed in %d cases\n", d.Name, d.Ticket, r.ByName[d.Quirk])
	}
	if r.Cases < LeastCases {
		fmt.Fprintf(out, "  too few cases: at least %d prove something\n", LeastCases)
	}
	fmt.Fprintf(out, "oracle: cases=%d differences=%d named=%d\n", r.Cases, r.Differences, r.Named)
}
