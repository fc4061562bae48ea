package strategy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"flinkscaler/core"
	"flinkscaler/core/collect"
	"flinkscaler/core/policy"
)

// maxWindowBytes is what a workflow keeps of samples.
const maxWindowBytes = 200_000

// scene is a case while it is played.
type scene struct {
	t     *testing.T
	input policy.Layer
	job   policy.Layer // the autoscaler's keys in the job's own configuration
	// policy is what the layers come to, cycle its interval.
	policy     policy.Policy
	cycle      time.Duration
	start, now time.Time
	// changesOnly leaves holds out of the timeline.
	changesOnly bool
	events      events
	vertices    []*actor
	running     time.Time
	clock       float64
	global      map[string]string
	ctx         core.JobContext
	carry       *carrying      // nil: the case ends with the first change
	asks        map[string]int // what is wanted of Flink; nil: looks do not show it
	timeline    strings.Builder
	last        core.Decision
	over        bool
}

func t0() time.Time { return time.Date(2026, 7, 20, 12, 0, 0, 0, time.UTC) }

// play runs a case and tells how the decisions went.
func play(t *testing.T, given string) string {
	t.Helper()
	s := &scene{
		t: t, input: policy.Layer{Name: "input", Values: map[string]string{}}, job: policy.Layer{Name: "job configuration"},
		start: t0(), global: map[string]string{},
	}
	for _, x := range sections(t, given) {
		s.section(x)
	}
	var topology core.Topology
	for _, a := range s.vertices {
		topology.Vertices = append(topology.Vertices, a.Vertex)
	}
	if s.timeline.Len() == 0 {
		s.write("no change")
	}
	p, _, _ := policy.Resolve([]policy.Layer{s.input, s.job})
	return s.timeline.String() + s.events.summary() + "\n" + s.last.Text(topology, p.Terms())
}

func (s *scene) section(x section) {
	switch x.name {
	case "run":
		for _, l := range x.lines {
			s.setting(l.text)
		}
	case "policy":
		for _, l := range x.lines {
			k, v, _ := strings.Cut(l.text, " = ")
			s.input.Values[k] = v
		}
	case "config":
		s.ctx.Config = map[string]string{}
		for _, l := range x.lines {
			k, v, _ := strings.Cut(l.text, ": ")
			s.ctx.Config[k] = v
		}
		s.job.Values = policy.Own(s.ctx.Config)
	case "vertices":
		for _, l := range x.lines {
			s.addVertex(words(l.text))
		}
	case "looks":
		p, _, _ := policy.Resolve([]policy.Layer{s.input, s.job})
		s.policy, s.cycle, s.now, s.running = p, p.Interval, s.start, s.start
		s.looks(x.lines)
	default:
		s.t.Fatalf("unknown section %q", x.name)
	}
}

// setting is a line of the section run.
func (s *scene) setting(text string) {
	switch k, v, _ := strings.Cut(text, " = "); {
	case k == "start":
		at, err := time.Parse("2006-01-02 15:04 -07:00", v)
		if err != nil {
			s.t.Fatalf("start: %v", err)
		}
		s.start = at.UTC()
	case k == "requirements" && v == "shown":
		s.asks = map[string]int{}
	case k == "means":
		s.means(words(v))
	case k == "timeline" && v == "changes":
		s.changesOnly = true
	case k == "events" && (v == "told" || v == "counted"):
		s.events = events{told: v == "told", counts: map[string]int{}}
	default:
		s.t.Fatalf("unknown line %q in section run", text)
	}
}

// means says how the job's size is changed.
func (s *scene) means(words []string) {
	s.ctx.Means = &core.Means{Method: "a way of the platform"}
	for _, w := range words {
		switch k, v, _ := strings.Cut(w, "="); k {
		case "uniform":
			s.ctx.Means.Uniform = true
		case "step":
			s.ctx.Means.Step = int(s.number(v))
		case "follows":
			s.ctx.Means.Follows = true
		case "refused":
			s.ctx.Means.Refused = v
		default:
			s.t.Fatalf("unknown means %q", w)
		}
	}
}

func (s *scene) number(text string) float64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		s.t.Fatalf("%q is no number", text)
	}
	return f
}

func (s *scene) duration(text string) time.Duration {
	d, err := policy.ParseDuration(text)
	if err != nil {
		s.t.Fatalf("%q: %v", text, err)
	}
	return d
}

// looks plays lines. Those indented under "repeat n" come again and again, those
// under a look go on with it.
func (s *scene) looks(lines []line) {
	for i := 0; i < len(lines) && !s.over; {
		end := i + 1
		for end < len(lines) && lines[end].indent > lines[i].indent {
			end++
		}
		text, under := lines[i].text, lines[i+1:end]
		if times, ok := strings.CutPrefix(text, "repeat "); ok {
			for range int(s.number(times)) {
				s.looks(under)
			}
		} else {
			for _, l := range under {
				text += "; " + l.text
			}
			s.lookLine(text)
		}
		i = end
	}
}

// lookLine plays one line: "20m: a in=5 busy=100; b in=5; frozen".
func (s *scene) lookLine(text string) {
	span, what, ok := strings.Cut(text, ":")
	if !ok {
		s.t.Fatalf("line %q in section looks", text)
	}
	job := map[string]string{}
	for _, part := range strings.Split(what, ";") {
		w := words(strings.TrimSpace(part))
		if len(w) == 0 {
			continue
		}
		if a := s.find(w[0]); a != nil {
			s.set(a, w[1:])
			continue
		}
		for _, pair := range w {
			k, v, _ := strings.Cut(pair, "=")
			job[k] = v
			s.order(k, v)
		}
	}
	n := int(s.duration(span) / s.cycle)
	for i := range n {
		s.look(job, float64(i+1)/float64(n))
		if s.over {
			return
		}
	}
	for _, a := range s.vertices {
		a.lag = a.lagTo
	}
}

func (s *scene) find(id string) *actor {
	for _, a := range s.vertices {
		if a.ID == id {
			return a
		}
	}
	return nil
}

// order takes in what operators and the workflow say, and what befalls the job
// as a whole.
func (s *scene) order(k, v string) {
	switch k {
	case "restart":
		s.restart(s.now)
	case "reset":
		s.zero()
	case "resize":
		id, n, _ := strings.Cut(v, ":")
		s.resize(id, int(s.number(n)))
		s.restart(s.now)
	case "rename":
		from, to, _ := strings.Cut(v, ":")
		s.rename(from, to)
		s.restart(s.now)
	case "jobid":
		s.ctx.JobID = v
		clear(s.asks) // of what was asked of the old one, Flink knows nothing
		s.restart(s.now)
	case "pause":
		s.ctx.Pause = &core.Pause{By: v, Since: s.now}
	case "resume":
		s.ctx.Pause = nil
	case "override":
		s.override(v)
	case "clear-override":
		s.ctx.Override = nil
	case "approve", "reject":
		s.answer(k, v)
	case "retry-after":
		s.ctx.RetryAfter = s.now.Add(s.duration(v))
		s.ctx.LastOutcome = &core.Outcome{Kind: core.Undone, Reason: core.ReasonNotReached, EndedAt: s.now}
	case "rescale-open":
		s.ctx.RescaleOpen = true
	case "managed-by":
		s.ctx.ManagedBy = v
	case "apply":
		s.carryOut(v)
	case "foreign":
		s.foreign(v)
	case "evaluate-now":
		s.ctx.AskedAt = s.now
	case "state", "frozen", "silent", "fault", "rival", "beware", "mark": // hold for this line alone
	case "gc", "heap", "heap-used", "managed", "metaspace", "slots", "free", "state-size":
		s.global[k] = v
	default:
		s.t.Fatalf("unknown word %q", k)
	}
}

func (s *scene) override(v string) {
	o := &core.Override{By: "ann", Since: s.now}
	if n, err := strconv.Atoi(v); err == nil {
		o.Parallelism = n
	} else {
		name, n, _ := strings.Cut(v, ":")
		o.Vertices = []core.VertexSize{{ID: name, Parallelism: int(s.number(n))}}
	}
	s.ctx.Override = o
}

// restart begins a new attempt of the job, with all counters at 0.
func (s *scene) restart(at time.Time) {
	s.running = at
	s.zero()
}

// zero begins all counters anew.
func (s *scene) zero() {
	for _, a := range s.vertices {
		a.inTotal, a.outTotal, a.busyTotal = 0, 0, 0
	}
}

func (s *scene) resize(id string, p int) {
	a := s.find(id)
	if a == nil {
		s.t.Fatalf("no vertex %q", id)
	}
	a.Parallelism, a.running = p, p
}

// rename gives a vertex another id, as a redeployment without operator uids
// does.
func (s *scene) rename(from, to string) {
	for _, a := range s.vertices {
		if a.ID == from {
			a.ID, a.Name = to, to
		}
		for i := range a.Inputs {
			if a.Inputs[i].From == from {
				a.Inputs[i].From = to
			}
		}
	}
	s.sort()
}

func (s *scene) sort() {
	slices.SortFunc(s.vertices, func(a, b *actor) int { return strings.Compare(a.ID, b.ID) })
}

// look is one cycle: observe, decide, remember, forget. part is how much of
// the line is over.
func (s *scene) look(job map[string]string, part float64) {
	s.now = s.now.Add(s.cycle)
	s.carried()
	_, frozen := job["frozen"]
	s.flow()
	for _, a := range s.vertices {
		a.advance(s.cycle, frozen)
	}
	s.ctx.Cycle++
	s.ctx.Now = s.now
	s.consentEnds()
	s.ctx.Window = collect.Append(s.ctx.Window, s.observe(job, part), maxWindowBytes)
	d, memory, keepFrom := DecideLayers(s.ctx, []policy.Layer{s.input, s.job})
	s.ctx.Memory = memory
	for len(s.ctx.Window) > 0 && s.ctx.Window[0].At.Before(keepFrom) {
		s.ctx.Window = s.ctx.Window[1:]
	}
	s.tell(d)
	s.consentAfter(d)
	s.announce(d)
	s.last = d
	if d.Verdict == core.Change {
		s.begin(d)
	}
}

func (s *scene) observe(job map[string]string, part float64) core.Sample {
	if fault, ok := job["fault"]; ok {
		return collect.Faulty(s.now, core.Reason(fault), "the read failed")
	}
	var previous *core.Sample
	if n := len(s.ctx.Window); n > 0 {
		previous = &s.ctx.Window[n-1]
	}
	sample, topology := collect.Sample(s.measure(job, part), previous)
	if v := s.global["state-size"]; v != "" && v != "missing" {
		bytes, err := policy.ParseMemory(v)
		if err != nil {
			s.t.Fatalf("state-size: %v", err)
		}
		sample.Global.StateSize = core.Read(float64(bytes))
	}
	sample.Rival, sample.Beware, sample.Mark = job["rival"], job["beware"], core.MarkState(job["mark"])
	s.showAsked(&sample)
	if len(topology.Vertices) > 0 {
		s.ctx.Topology = topology
	}
	return sample
}

// tell adds a decision to the timeline, if it is another than the one before.
func (s *scene) tell(d core.Decision) {
	switch {
	case d.Verdict == core.Change:
		var sizes []string
		for _, v := range d.Vertices {
			if v.To != v.From {
				sizes = append(sizes, fmt.Sprintf("%s %d -> %d", v.ID, v.From, v.To))
			}
		}
		s.write(fmt.Sprintf("%s: %s: %s", d.Verdict, d.Reason, strings.Join(sizes, ", ")))
	case s.changesOnly || (d.Verdict == s.last.Verdict && d.Reason == s.last.Reason):
	default:
		s.write(fmt.Sprintf("%s: %s", d.Verdict, d.Reason))
	}
}

// write puts a line into the timeline, broken between words.
func (s *scene) write(text string) {
	text = fmt.Sprintf("%s %s", s.now.Sub(s.start), text)
	at := 0
	for i, w := range strings.Fields(text) {
		n := utf8.RuneCountInString(w)
		switch {
		case i == 0:
		case at+1+n > columns:
			s.timeline.WriteString("\n  ")
			at = 2
		default:
			s.timeline.WriteByte(' ')
			at++
		}
		s.timeline.WriteString(w)
		at += n
	}
	s.timeline.WriteByte('\n')
}

// measure is what a Meter would have read.
func (s *scene) measure(job map[string]string, part float64) core.Measurement {
	_, frozen := job["frozen"]
	if !frozen {
		s.clock += 1e9
	}
	m := core.Measurement{Clock: core.Read(s.clock), Fresh: !frozen, Waited: 12 * time.Second}
	m.Status = core.JobStatus{ID: s.ctx.JobID, State: core.JobRunning, Now: s.now, RunningSince: s.running}
	if s.restarting() {
		m.Status.State = core.JobRestarting
	}
	if v := job["state"]; v != "" {
		m.Status.State = core.JobState(v)
	}
	if v := job["silent"]; v != "" {
		m.SilentTaskManagers = []string{v}
	}
	m.SlotsTotal, m.SlotsFree, m.TaskManagers = s.slots("slots"), s.slots("free"), s.taskManagers()
	for _, a := range s.vertices {
		m.Status.Topology.Vertices = append(m.Status.Topology.Vertices, a.Vertex)
		m.Status.Vertices = append(m.Status.Vertices, a.status())
		m.Vertices = append(m.Vertices, a.metrics(part))
	}
	return m
}

func (s *scene) slots(word string) core.Reading {
	if v := s.global[word]; v != "" && v != "missing" {
		return core.Read(s.number(v))
	}
	return core.Reading{}
}

// taskManagers are the metrics of all TaskManagers together, of which the worst
// counts. The heap's limit follows from its use and its used share.
func (s *scene) taskManagers() []core.Aggregate {
	var out []core.Aggregate
	add := func(id string, value float64) {
		out = append(out, core.Aggregate{ID: id, Min: 0, Max: value, Avg: value / 2, Sum: value})
	}
	given := func(word string) (float64, bool) {
		v := s.global[word]
		if v == "" || v == "missing" {
			return 0, false
		}
		if n, err := policy.ParseMemory(v); err == nil {
			return float64(n), true
		}
		return s.number(v), true
	}
	if f, ok := given("gc"); ok {
		add("Status.JVM.GarbageCollector.All.TimeMsPerSecond", 1000*f)
	}
	used, hasUsed := given("heap-used")
	if share, ok := given("heap"); ok {
		if !hasUsed {
			used, hasUsed = 1e9, true
		}
		add("Status.JVM.Memory.Heap.Max", used/share)
	}
	if hasUsed {
		add("Status.JVM.Memory.Heap.Used", used)
	}
	if f, ok := given("managed"); ok {
		add("Status.Flink.Memory.Managed.Used", f)
	}
	if f, ok := given("metaspace"); ok {
		add("Status.JVM.Memory.Metaspace.Used", f)
	}
	return out
}
