package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
	"flinkscaler/core/policy"
	"flinkscaler/internal/connect"
	"flinkscaler/workflows"
)

// stage is an app around a fake server, with what it printed.
type stage struct {
	app      *app
	server   *fakeServer
	out, err bytes.Buffer
}

func newStage() *stage {
	s := &stage{server: newFake()}
	s.app = &app{
		in: strings.NewReader(""), out: &s.out, err: &s.err,
		now: fakeNow, newID: func() string { return "cli-1" }, user: func() string { return "ann" },
		env:  connect.Environ{"TEMPORAL_CONFIG_FILE=" + filepath.Join("testdata", "no-such-profiles.toml")},
		size: func() (int, int) { return 0, 0 },
		dial: func(context.Context, client.Options, endpoint, connect.Environ) (server, error) { return s.server, nil },
	}
	return s
}

// run carries out a command line and gives all that a person sees: lines on
// standard error begin with "! ".
func (s *stage) run(ctx context.Context, args []string) string {
	s.out.Reset()
	s.err.Reset()
	code := run(ctx, s.app, args)
	text := s.out.String()
	if s.err.Len() > 0 {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += "! " + strings.ReplaceAll(strings.TrimSuffix(s.err.String(), "\n"), "\n", "\n! ") + "\n"
	}
	if code != 0 {
		text += "[exit " + strconv.Itoa(code) + "]\n"
	}
	return text
}

// set changes the scenery.
func (s *stage) set(t *testing.T, what string) {
	t.Helper()
	word, rest, _ := strings.Cut(what, " ")
	switch word {
	case "server":
		s.server.down = map[string]error{"up": nil, "down": errUnreachable, "denied": errDenied, "no-namespace": errNamespace}[rest]
	case "workers":
		s.server.workers = strings.Fields(rest)
	case "terminal":
		s.app.outTerminal, s.app.inTerminal = true, true
		s.app.size = func() (int, int) { return 100, 30 }
	case "input":
		s.app.in = strings.NewReader(strings.ReplaceAll(rest, `\n`, "\n"))
	case "env":
		s.app.env = append(s.app.env, rest)
	case "fleet":
		n, err := strconv.Atoi(rest)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			s.server.add(fmt.Sprintf("big/job-%03d", i), orders())
		}
		s.server.pages = 25
	case "rescales":
		s.server.addRescale()
		st := &s.server.jobs["flink/"+rest].status
		st.State, st.Reason = workflows.Rescaling, core.ReasonRescaleOpen
		st.RescaleWorkflow = "flink-rescale/dev/flink/orders"
		st.Rescale = &workflows.OpenRescale{DecisionID: "17-1796025590", Attempt: 2, Since: ago(12 * time.Second), Wanted: []core.VertexSize{{ID: mapID, Parallelism: 6}}}
	case "ends":
		s.server.ends = "flink/" + rest
	case "close":
		j := s.server.jobs["flink/"+rest]
		j.Status, j.ClosedAt = "Canceled", ago(3*time.Minute)
	default:
		t.Fatalf("unknown scenery %q", what)
	}
}

// TestScripts plays every file of testdata/cli: "# " a reason, "% " a change of
// the scenery, "$ " a command, the rest what it prints. UPDATE_GOLDEN=1 writes
// what was got.
func TestScripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "cli", "*.txt"))
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d scripts: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(file) //nolint:gosec // a test's own file
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(want))
			if os.Getenv("UPDATE_GOLDEN") != "" {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func play(t *testing.T, script string) string {
	t.Helper()
	if !strings.HasPrefix(script, "# ") {
		t.Fatal("the script gives no reason")
	}
	s := newStage()
	var b strings.Builder
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "# "):
			if b.Len() > 0 {
				b.WriteString("\n")
			}
			b.WriteString(line + "\n")
		case strings.HasPrefix(line, "% "):
			s.set(t, line[2:])
			b.WriteString("\n" + line + "\n")
		case strings.HasPrefix(line, "$ flinkscaler"):
			b.WriteString("\n" + line + "\n")
			b.WriteString(s.run(t.Context(), words(t, strings.TrimPrefix(line, "$ flinkscaler"))))
		}
	}
	return strings.ReplaceAll(b.String(), "\x1b", "<ESC>")
}

// words splits a command line as a shell does, without its more special parts.
func words(t *testing.T, line string) []string {
	t.Helper()
	var out []string
	var word strings.Builder
	open, quoted := false, rune(0)
	for _, r := range line {
		switch {
		case quoted != 0 && r == quoted:
			quoted = 0
		case quoted == 0 && (r == '"' || r == '\''):
			quoted, open = r, true
		case quoted == 0 && r == ' ':
			if open {
				out = append(out, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if open {
		out = append(out, word.String())
	}
	if quoted != 0 {
		t.Fatalf("quotes are open in %q", line)
	}
	return out
}

// TestEveryCommandHelps: each verb has a text and an example of its own, and
// the example begins with the verb.
func TestEveryCommandHelps(t *testing.T) {
	t.Parallel()
	cmds := newRoot(newStage().app).Commands()
	if len(cmds) != 18 {
		t.Errorf("%d commands, want 18", len(cmds))
	}
	for _, c := range cmds {
		for _, sub := range c.Commands() {
			if sub.Short == "" || sub.Long == "" || !strings.Contains(sub.Example, sub.CommandPath()) {
				t.Errorf("%s lacks a short text, a long one or an example of itself", sub.CommandPath())
			}
		}
		if c.Short == "" || c.Long == "" || !strings.Contains(c.Example, "flinkscaler "+c.Name()) || c.GroupID == "" {
			t.Errorf("%s lacks a short text, a long one, an example of itself or a group", c.Name())
		}
	}
}

// TestPolicyCheckAll: with --all nothing that is in force is left out.
func TestPolicyCheckAll(t *testing.T) {
	t.Parallel()
	s := newStage()
	got := s.run(t.Context(), []string{"policy", "check", "testdata/policy/deployment.yaml", "--all", "-o", "json"})
	var c checkedPolicy
	if err := json.Unmarshal([]byte(got), &c); err != nil {
		t.Fatalf("%v in\n%s", err, got)
	}
	from := map[string]string{}
	for _, o := range c.Keys {
		from[o.Key] = o.From
	}
	for _, k := range policy.Keys() {
		if k.Ignored == "" && !strings.HasSuffix(k.Key, "...") && from[k.Key] == "" {
			t.Errorf("%s is left out", k.Key)
		}
	}
	if from["job.autoscaler.vertex.max-parallelism"] != "file" || from["job.autoscaler.interval"] != policy.BuiltIn {
		t.Errorf("origins %v", from)
	}
}

func TestWatchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := newStage()
	ctx, cancel := context.WithCancel(t.Context())
	s.server.on = func(n int) {
		j := s.server.jobs["flink/dev/orders"]
		switch n {
		case 2:
			j.status.State, j.status.Vertices[1].Wanted = "rescaling", 6
		case 3:
			s.server.workers = nil
		case 5:
			s.server.workers = []string{j.TaskQueue}
			j.status = orders()
		case 7:
			cancel()
		}
	}
	got := s.run(ctx, []string{"watch", "dev/orders", "--every", "1ms"})
	want := `2026-11-30 08:00:00Z  dev/orders | watching | within-target | Source: orders 2, Enrich 4
2026-11-30 08:00:00Z  dev/orders | rescaling | within-target | Source: orders 2, Enrich 4 (wants 6)
2026-11-30 08:00:00Z  no worker answered for dev/orders within 10 s; still trying
2026-11-30 08:00:00Z  dev/orders | watching | within-target | Source: orders 2, Enrich 4
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWatchEndsWithItsWorkflow(t *testing.T) {
	t.Parallel()
	s := newStage()
	s.server.on = func(n int) {
		if n == 2 {
			s.server.jobs["flink/dev/orders"].Status = "Canceled"
		}
	}
	got := s.run(t.Context(), []string{"watch", "dev/orders", "--every", "1ms"})
	if want := "the workflow has ended: canceled\n"; !strings.HasSuffix(got, want) {
		t.Errorf("want %q at the end of\n%s", want, got)
	}
}

// TestALongListIsInterrupted: what is not started is said, and nothing more is
// started.
func TestALongListIsInterrupted(t *testing.T) {
	t.Parallel()
	s := newStage()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.app.in = strings.NewReader(`{"cluster": "dev", "job": "a"}` + "\n" + `{"cluster": "dev", "job": "b"}`)
	got := s.run(ctx, []string{"start", "-f", "-"})
	if !strings.Contains(got, "2 of 2 were not started: interrupted") || !strings.Contains(got, "[exit 1]") || len(s.server.jobs) != 3 {
		t.Errorf("%d jobs, and\n%s", len(s.server.jobs), got)
	}
}

// TestAFleetWithoutWorkersIsListedQuickly: not every job is asked to its
// timeout.
func TestAFleetWithoutWorkersIsListedQuickly(t *testing.T) {
	t.Parallel()
	s := newStage()
	s.server.workers = nil
	for i := range 500 {
		st := orders()
		st.Job = "j" + strconv.Itoa(i)
		s.server.add("dev/"+st.Job, st)
	}
	s.run(t.Context(), []string{"list"})
	if most := 2 * (workersAtOnce + enoughSilence); s.server.asked > most {
		t.Errorf("%d of 503 jobs were asked, want at most %d", s.server.asked, most)
	}
}

func TestFailuresHaveTheirCause(t *testing.T) {
	t.Parallel()
	s := newStage()
	s.server.workers = nil
	key, err := parseJob("dev/orders")
	if err != nil {
		t.Fatal(err)
	}
	s.app.timeout = defaultTimeout
	se, err := s.app.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	if _, err := se.ask(t.Context(), key, "explain", &lines); !errors.Is(err, errNoWorker) {
		t.Errorf("got %v, want the cause %v", err, errNoWorker)
	}
}
