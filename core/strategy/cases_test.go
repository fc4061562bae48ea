package strategy

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
	"flinkscaler/core/collect"
	"flinkscaler/core/policy"
)

var update = flag.Bool("update", false, "write what is decided into the case files") //nolint:gochecknoglobals // a test flag

// leastCases guards against a corpus that is not found.
const leastCases = 25

// TestCases runs every file of core/testdata/cases; cases.md there tells the
// format.
func TestCases(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../testdata/cases/*.txt")
	if err != nil || len(files) < leastCases {
		t.Fatalf("%d case files, %v; want at least %d", len(files), err, leastCases)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			given, want, _ := strings.Cut(string(text), "\nexpect\n")
			got := play(t, given)
			for _, line := range strings.Split(got, "\n") {
				if utf8.RuneCountInString(line) > 100 {
					t.Errorf("a line of more than 100 columns: %q", line)
				}
			}
			if *update {
				if err := os.WriteFile(file, []byte(strings.TrimRight(given, "\n")+"\n\nexpect\n"+got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// scene is a case while it is played.
type scene struct {
	t        *testing.T
	layer    policy.Layer
	cycle    time.Duration
	now      time.Time
	vertices []*actor
	running  time.Time
	ctx      core.JobContext
	clock    float64
	timeline strings.Builder
	last     core.Decision
	changed  bool
}

// actor is a vertex with what it does now.
type actor struct {
	core.Vertex
	in, out, busy, lag, lagTo float64
	back                      float64
	inTotal, outTotal         float64
	words                     map[string]string // readings that are not numbers
	running                   int
	finished                  bool
}

func t0() time.Time { return time.Date(2026, 7, 20, 12, 0, 0, 0, time.UTC) }

// play runs a case and tells how the decisions went, up to the first change.
func play(t *testing.T, text string) string {
	t.Helper()
	s := &scene{t: t, layer: policy.Layer{Name: "input", Values: map[string]string{}}, cycle: time.Minute, now: t0(), running: t0()}
	_, body, ok := strings.Cut(text, "\n\n")
	if !ok {
		t.Fatal("a case begins with its reason and an empty line")
	}
	section := ""
	for _, line := range strings.Split(body, "\n") {
		switch trimmed := strings.TrimSpace(line); {
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
		case !strings.HasPrefix(line, " "):
			section = trimmed
		case section == "policy":
			k, v, _ := strings.Cut(trimmed, " = ")
			s.layer.Values[k] = v
		case section == "vertices":
			s.addVertex(words(trimmed))
		case section == "looks":
			s.looks(trimmed)
		default:
			t.Fatalf("line %q in section %q", line, section)
		}
		if s.changed {
			break
		}
	}
	var topology core.Topology
	for _, a := range s.vertices {
		topology.Vertices = append(topology.Vertices, a.Vertex)
	}
	return s.timeline.String() + "\n" + s.last.Text(topology)
}

// words splits at spaces outside of double quotes.
func words(line string) []string {
	var out []string
	var w strings.Builder
	quoted := false
	for _, c := range line + " " {
		switch {
		case c == '"':
			quoted = !quoted
		case c == ' ' && !quoted:
			if w.Len() > 0 {
				out = append(out, w.String())
			}
			w.Reset()
		default:
			w.WriteRune(c)
		}
	}
	return out
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

func (s *scene) addVertex(w []string) {
	a := &actor{Vertex: core.Vertex{ID: w[0], Name: w[0], MaxParallelism: 128}, words: map[string]string{}}
	for _, pair := range w[1:] {
		k, v, _ := strings.Cut(pair, "=")
		switch k {
		case "p":
			a.Parallelism = int(s.number(v))
		case "max":
			a.MaxParallelism = int(s.number(v))
		case "partitions":
			a.Partitions = int(s.number(v))
		case "name":
			a.Name = v
		case "from":
			for _, edge := range strings.Split(v, ",") {
				from, ship, _ := strings.Cut(edge, ":")
				a.Inputs = append(a.Inputs, core.Edge{From: from, Ship: core.ShipStrategy(ship)})
			}
		default:
			s.t.Fatalf("vertex %s: unknown word %q", w[0], pair)
		}
	}
	a.running = a.Parallelism
	s.vertices = append(s.vertices, a)
	slices.SortFunc(s.vertices, func(a, b *actor) int { return strings.Compare(a.ID, b.ID) })
}

// looks plays one line: "20m: a in=5 busy=100; b in=5; frozen".
func (s *scene) looks(line string) {
	span, what, _ := strings.Cut(line, ":")
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
		}
	}
	s.order(job)
	n := int(s.duration(span) / s.cycle)
	for i := range n {
		s.look(job, float64(i+1)/float64(n))
		if s.changed {
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

func (s *scene) set(a *actor, pairs []string) {
	for _, pair := range pairs {
		k, v, _ := strings.Cut(pair, "=")
		if k == "finished" {
			a.finished = true
			continue
		}
		if k == "lag" && strings.Contains(v, "..") {
			from, to, _ := strings.Cut(v, "..")
			a.lag, a.lagTo = s.number(from), s.number(to)
			continue
		}
		if f, err := strconv.ParseFloat(v, 64); err != nil || math.IsNaN(f) {
			a.words[k] = v
			continue
		}
		delete(a.words, k)
		switch f := s.number(v); k {
		case "in":
			a.in = f
		case "out":
			a.out = f
		case "busy":
			a.busy = f
		case "back":
			a.back = f
		case "lag":
			a.lag, a.lagTo = f, f
		case "running":
			a.running = int(f)
		default:
			s.t.Fatalf("vertex %s: unknown word %q", a.ID, pair)
		}
	}
}

// order takes in what operators and the workflow say, and a restart.
func (s *scene) order(job map[string]string) {
	for k, v := range job {
		switch k {
		case "restart":
			s.running = s.now
			for _, a := range s.vertices {
				a.inTotal, a.outTotal = 0, 0
			}
		case "pause":
			s.ctx.Pause = &core.Pause{By: v, Since: s.now}
		case "resume":
			s.ctx.Pause = nil
		case "override":
			o := &core.Override{By: "ann", Since: s.now}
			if n, err := strconv.Atoi(v); err == nil {
				o.Parallelism = n
			} else {
				name, n, _ := strings.Cut(v, ":")
				o.Vertices = []core.VertexSize{{ID: name, Parallelism: int(s.number(n))}}
			}
			s.ctx.Override = o
		case "retry-after":
			s.ctx.RetryAfter = s.now.Add(s.duration(v))
			s.ctx.LastOutcome = &core.Outcome{Kind: core.Undone, Reason: core.ReasonNotReached, EndedAt: s.now}
		case "rescale-open":
			s.ctx.RescaleOpen = true
		case "managed-by":
			s.ctx.ManagedBy = v
		case "state", "frozen", "silent", "fault", "stuck":
		default:
			s.t.Fatalf("unknown word %q", k)
		}
	}
}

// look is one cycle: observe, decide, forget. part is how much of the line is
// over.
func (s *scene) look(job map[string]string, part float64) {
	s.now = s.now.Add(s.cycle)
	_, stuck := job["frozen"]
	for _, a := range s.vertices {
		if !stuck {
			a.inTotal += a.in * s.cycle.Seconds()
			a.outTotal += a.out * s.cycle.Seconds()
		}
	}
	var previous *core.Sample
	if n := len(s.ctx.Window); n > 0 {
		previous = &s.ctx.Window[n-1]
	}
	var sample core.Sample
	if fault, ok := job["fault"]; ok {
		sample = collect.Faulty(s.now, core.Reason(fault), "the read failed")
	} else {
		var topology core.Topology
		sample, topology = collect.Sample(s.measure(job, part), previous)
		if len(topology.Vertices) > 0 {
			s.ctx.Topology = topology
		}
	}
	s.ctx.Cycle++
	s.ctx.Now = s.now
	s.ctx.Window = collect.Trim(append(s.ctx.Window, sample), 200_000)
	d, memory, keepFrom := DecideLayers(s.ctx, []policy.Layer{s.layer})
	s.ctx.Memory = memory
	for len(s.ctx.Window) > 0 && s.ctx.Window[0].At.Before(keepFrom) {
		s.ctx.Window = s.ctx.Window[1:]
	}
	if d.Verdict != s.last.Verdict || d.Reason != s.last.Reason {
		fmt.Fprintf(&s.timeline, "%s %s: %s\n", s.now.Sub(t0()), d.Verdict, d.Reason)
	}
	s.last, s.changed = d, d.Verdict == core.Change
}

// measure is what a Meter would have read.
func (s *scene) measure(job map[string]string, part float64) core.Measurement {
	_, frozen := job["frozen"]
	if !frozen {
		s.clock += 1e9
	}
	m := core.Measurement{Clock: core.Read(s.clock), Fresh: !frozen, Waited: 12 * time.Second}
	m.Status = core.JobStatus{State: core.JobRunning, Now: s.now, RunningSince: s.running}
	if v := job["state"]; v != "" {
		m.Status.State = core.JobState(v)
	}
	if v := job["silent"]; v != "" {
		m.SilentTaskManagers = []string{v}
	}
	for _, a := range s.vertices {
		m.Status.Topology.Vertices = append(m.Status.Topology.Vertices, a.Vertex)
		tasks := core.TaskCounts{Running: a.running, Total: a.Parallelism}
		if a.finished {
			tasks = core.TaskCounts{Finished: a.Parallelism, Total: a.Parallelism}
		}
		m.Status.Vertices = append(m.Status.Vertices, core.VertexStatus{ID: a.ID, Tasks: tasks,
			RecordsRead: a.reading("in", a.inTotal), RecordsWritten: a.reading("out", a.outTotal), BusyMs: core.Read(a.busy)})
		m.Vertices = append(m.Vertices, a.metrics(part))
	}
	return m
}

func (a *actor) reading(word string, value float64) core.Reading {
	switch a.words[word] {
	case "":
		return core.Read(value)
	case "incomplete":
		return core.Absent(core.Incomplete)
	}
	return core.Reading{}
}

func (a *actor) metrics(part float64) core.VertexMetrics {
	vm := core.VertexMetrics{ID: a.ID}
	add := func(word, id string, value float64) {
		switch a.words[word] {
		case "missing":
			return
		case "NaN":
			value = math.NaN()
		}
		vm.Names = append(vm.Names, id)
		vm.Values = append(vm.Values, core.Aggregate{ID: id, Min: value, Max: value, Avg: value, Sum: value})
	}
	if a.finished {
		return vm
	}
	add("busy", "busyTimeMsPerSecond", a.busy)
	if !a.IsSource() {
		add("rate", "numRecordsInPerSecond", a.in)
		return vm
	}
	add("rate", "Source__x.numRecordsInPerSecond", a.in)
	add("back", "backPressuredTimeMsPerSecond", a.back)
	add("lag", "Source__x.pendingRecords", a.lag+(a.lagTo-a.lag)*part)
	return vm
}
