package stabilize

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"flinkscaler/core"
)

func sizesOf(pairs ...any) []core.VertexSize {
	var out []core.VertexSize
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, core.VertexSize{ID: pairs[i].(string), Parallelism: pairs[i+1].(int)})
	}
	return out
}

func TestMarkBad(t *testing.T) {
	t.Parallel()
	now := noon()
	up := core.Outcome{DecisionID: "9-1", From: sizesOf("a", 8, "b", 2), Wanted: sizesOf("a", 32, "b", 2)}
	undone := func(o core.Outcome) core.Outcome { o.Kind = core.Undone; return o }
	mark := func(p int, d time.Duration) core.BadSize {
		return core.BadSize{DecisionID: "9-1", Above: sizesOf("a", p), Until: now.Add(d), For: d}
	}
	for name, tt := range map[string]struct {
		reason  string
		bad     []core.BadSize
		outcome core.Outcome
		want    []core.BadSize
	}{
		"undone":               {"a quarter of an hour at first", nil, undone(up), []core.BadSize{mark(32, 15*time.Minute)}},
		"confirmed":            {"twice as long", []core.BadSize{mark(32, 15*time.Minute)}, undone(up), []core.BadSize{mark(32, 30*time.Minute)}},
		"confirmed very often": {"a day at most", []core.BadSize{mark(32, 20*time.Hour)}, undone(up), []core.BadSize{mark(32, 24*time.Hour)}},
		"failed lower before":  {"the smaller one that failed stays", []core.BadSize{mark(16, 15*time.Minute)}, undone(up), []core.BadSize{mark(16, 30*time.Minute)}},
		"failed higher before": {"the smaller one is new", []core.BadSize{mark(40, 15*time.Minute)}, undone(up), []core.BadSize{mark(32, 30*time.Minute)}},
		"another vertex": {"a mark of its own", []core.BadSize{{DecisionID: "1-1", Above: sizesOf("b", 3), Until: now, For: time.Minute}}, undone(up),
			[]core.BadSize{{DecisionID: "1-1", Above: sizesOf("b", 3), Until: now, For: time.Minute}, mark(32, 15*time.Minute)}},
		"applied":   {"nothing failed", nil, func() core.Outcome { o := up; o.Kind = core.Applied; return o }(), nil},
		"partial":   {"slots were missing, which is no fault of the size", nil, func() core.Outcome { o := up; o.Kind = core.Partial; return o }(), nil},
		"rejected":  {"it never ran", nil, func() core.Outcome { o := up; o.Kind = core.Rejected; return o }(), nil},
		"not known": {"the cluster did not answer", nil, func() core.Outcome { o := up; o.Kind, o.Reason = core.Failed, core.ReasonUnreachable; return o }(), nil},
		"not undone": {"the storage was away, but the size failed", nil, func() core.Outcome { o := up; o.Kind, o.Undo = core.Failed, &core.Undo{}; return o }(),
			[]core.BadSize{mark(32, 15*time.Minute)}},
		"smaller": {"the job failed at less", nil, undone(core.Outcome{DecisionID: "9-1", From: sizesOf("a", 8), Wanted: sizesOf("a", 2)}),
			[]core.BadSize{{DecisionID: "9-1", Below: sizesOf("a", 2), Until: now.Add(15 * time.Minute), For: 15 * time.Minute}}},
		"undo of its own": {"what it went back from failed", nil, core.Outcome{DecisionID: "9-1", Kind: core.Applied, Cause: core.ReasonUndo, WrittenAt: now, From: sizesOf("a", 32), Wanted: sizesOf("a", 8)},
			[]core.BadSize{mark(32, 15*time.Minute)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, MarkBad(tt.bad, tt.outcome, now)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestAvoid(t *testing.T) {
	t.Parallel()
	now := noon()
	bad := []core.BadSize{
		{DecisionID: "9-1", Above: sizesOf("a", 32), Until: now.Add(time.Minute)},
		{DecisionID: "8-1", Below: sizesOf("a", 2), Until: now.Add(time.Minute)},
		{DecisionID: "7-1", Above: sizesOf("a", 10), Until: now},
	}
	for name, tt := range map[string]struct {
		reason   string
		id       string
		from, to int
		want     int
	}{
		"below it":        {"as wanted", "a", 8, 31, 31},
		"at it":           {"one less", "a", 8, 32, 31},
		"above it":        {"one less", "a", 8, 100, 31},
		"already there":   {"never pushed to the other side", "a", 32, 40, 32},
		"just below it":   {"stays", "a", 31, 40, 31},
		"back from there": {"getting smaller is not what failed", "a", 40, 33, 33},
		"down to it":      {"one more", "a", 8, 2, 3},
		"down below it":   {"one more", "a", 8, 1, 3},
		"up from below":   {"getting larger is not what failed", "a", 1, 2, 2},
		"another vertex":  {"its own marks only", "b", 8, 100, 100},
	} {
		got, note := Avoid(bad, tt.id, tt.from, tt.to, now)
		if got != tt.want || (note != "") != (got != tt.to) {
			t.Errorf("%s: %d -> %d gave %d (%s), want %d: %s", name, tt.from, tt.to, got, note, tt.want, tt.reason)
		}
	}
}

// TestAMarkAlwaysEnds: whatever is marked how often, the list is bounded, and a
// day after the last failure no size is avoided any more; two days after it
// nothing is left.
func TestAMarkAlwaysEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ids := []string{"a", "b", "c"}
		size := rapid.IntRange(1, 50)
		draw := func(label string) []core.VertexSize {
			var out []core.VertexSize
			for _, id := range ids {
				out = append(out, core.VertexSize{ID: id, Parallelism: size.Draw(t, label+id)})
			}
			return out
		}
		topology := core.Topology{Vertices: []core.Vertex{{ID: "a"}, {ID: "b"}, {ID: "c"}}}
		now, bad := noon(), []core.BadSize(nil)
		for i := range rapid.IntRange(1, 30).Draw(t, "rescales") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "minutes")) * time.Minute)
			o := core.Outcome{
				DecisionID: fmt.Sprint(i), Kind: rapid.SampledFrom([]core.OutcomeKind{core.Undone, core.Failed, core.Applied}).Draw(t, "kind"),
				From: draw("from"), Wanted: draw("wanted"),
			}
			if rapid.Bool().Draw(t, "undo tried") {
				o.Undo = &core.Undo{}
			}
			bad = TrimBad(MarkBad(bad, o, now), topology, now)
			if len(bad) > mostBad {
				t.Fatalf("%d marks", len(bad))
			}
		}
		from, to := size.Draw(t, "from"), size.Draw(t, "to")
		if got, _ := Avoid(bad, "a", from, to, now); min(from, to) > got || max(from, to) < got {
			t.Fatalf("%d -> %d became %d", from, to, got)
		}
		if got, _ := Avoid(bad, "a", from, to, now.Add(longestBad)); got != to {
			t.Fatalf("a day later %d -> %d became %d: %+v", from, to, got, bad)
		}
		if left := TrimBad(bad, topology, now.Add(2*longestBad)); len(left) > 0 {
			t.Fatalf("two days later: %+v", left)
		}
	})
}

// TestManyVerticesAreBounded: memory travels with every decision (I10).
func TestManyVerticesAreBounded(t *testing.T) {
	t.Parallel()
	var bad []core.BadSize
	for n := range 20 {
		var from, wanted []core.VertexSize
		for i := range 300 {
			id := fmt.Sprintf("%02d-%03d", n, i)
			from, wanted = append(from, core.VertexSize{ID: id, Parallelism: 1}), append(wanted, core.VertexSize{ID: id, Parallelism: 2})
		}
		bad = MarkBad(bad, core.Outcome{Kind: core.Undone, From: from, Wanted: wanted}, noon())
	}
	var few []core.BadSize
	for n := range 20 {
		id := fmt.Sprintf("%02d", n)
		few = MarkBad(few, core.Outcome{Kind: core.Undone, From: sizesOf(id, 1), Wanted: sizesOf(id, 2)}, noon())
	}
	if len(few) != mostBad || few[mostBad-1].Above[0].ID != "19" {
		t.Errorf("%d marks of one vertex each", len(few))
	}
	if len(bad) != 2 || bad[1].Above[0].ID != "19-000" {
		t.Errorf("%d marks of 300 vertices, the newest of %s", len(bad), bad[len(bad)-1].Above[0].ID)
	}
}
