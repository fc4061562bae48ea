package view

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"flinkscaler/core"
	"flinkscaler/workflows"
)

func TestFrame(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason string
		status workflows.Status
		frame  Frame
	}{
		"watching":  {reason: "all is well: state and reason first, then the whole job, then each vertex from source to sink", status: watching()},
		"rescaling": {reason: "a rescale under way shows from and to; the last one that came to less than wanted says so", status: rescaling()},
		"queued":    {reason: "a job that waits for slots says its place, and why", status: queued()},
		"ordered":   {reason: "orders in force are shown with who, why and how long, and so is a refused signal; what is wanted but not done is named", status: ordered()},
		"awaiting":  {reason: "what waits for a yes is shown with its id and its deadline, and what was answered with who and how long", status: awaiting()},
		"blocked":   {reason: "numbers that are stale or incomplete are named so and are never zero; the reference's advice is shown", status: blocked()},
		"starting":  {reason: "before the first decision there are no numbers, and none are made up", status: workflows.Status{Cluster: "dev", Job: "orders", State: workflows.Starting, Interval: "1m0s", Runs: 1}},
		"hostile":   {reason: "names and notes cannot move the cursor, colour the screen or break the layout", status: hostile()},
		"narrow":    {reason: "in a narrow terminal text wraps and the last column is cut", status: rescaling(), frame: Frame{Width: 70}},
		"colour":    {reason: "colour marks state and load and changes nothing else", status: rescaling(), frame: Frame{Colour: true}},
		"trouble":   {reason: "an old status is shown as such, on top, with bars for what was before and a dot where nothing was known", status: watching(), frame: Frame{Load: []float64{0.1, 0.5, math.NaN(), 0.9, 1}, Lag: []float64{0, 10, 1000}, Trouble: "no worker answered for dev/orders within 10 s; still trying"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.frame.Now = now()
			var b bytes.Buffer
			if err := c.frame.Render(&b, c.status); err != nil {
				t.Fatal(err)
			}
			golden(t, "status-"+name, c.reason, visible(b.String()))
		})
	}
}

// TestColourIsOnlyColour: a coloured frame without its colours is the plain one.
func TestColourIsOnlyColour(t *testing.T) {
	t.Parallel()
	for _, s := range []workflows.Status{watching(), rescaling(), ordered(), blocked()} {
		var plain, coloured bytes.Buffer
		if err := (Frame{Now: now()}).Render(&plain, s); err != nil {
			t.Fatal(err)
		}
		if err := (Frame{Now: now(), Colour: true}).Render(&coloured, s); err != nil {
			t.Fatal(err)
		}
		if got := stripColour(coloured.String()); got != plain.String() {
			t.Errorf("%s: coloured\n%s\nplain\n%s", s.State, got, plain.String())
		}
	}
}

func stripColour(s string) string {
	for {
		i := strings.Index(s, "\x1b[")
		if i < 0 {
			return s
		}
		s = s[:i] + s[i+strings.IndexByte(s[i:], 'm')+1:]
	}
}

func TestRenderTakesTheWallClock(t *testing.T) {
	t.Parallel()
	s := watching()
	s.Since = time.Now().Add(-3 * time.Hour)
	var b bytes.Buffer
	if err := Render(&b, s, 80); err != nil {
		t.Fatal(err)
	}
	if want := "within-target for 3 h"; !strings.Contains(b.String(), want) {
		t.Errorf("want %q in\n%s", want, b.String())
	}
}

// TestHowASizeIsChanged: where Flink alone does not do it, a person sees what does.
func TestHowASizeIsChanged(t *testing.T) {
	t.Parallel()
	s := workflows.Status{Cluster: "here", Job: "shop.orders", FlinkJobID: "a4b3", FlinkVersion: "1.20.5", Means: &core.Means{Method: "operator-in-place"}}
	var b strings.Builder
	if err := Render(&b, s, 100); err != nil {
		t.Fatal(err)
	}
	if want := "Flink job a4b3, Flink 1.20.5, changed by operator-in-place"; !strings.Contains(b.String(), want) {
		t.Errorf("no %q in\n%s", want, b.String())
	}
}
