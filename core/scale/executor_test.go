package scale

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// acts is an executor made of a function.
type acts struct {
	at int
	do func(ExecutorContext, []core.VertexDecision) ([]core.VertexDecision, string)
}

func (a acts) Priority() int { return a.at }

func (a acts) Apply(c ExecutorContext, d []core.VertexDecision) ([]core.VertexDecision, string) {
	return a.do(c, d)
}

// sets gives the decisions back with other sizes.
func sets(at int, to map[string]int) acts {
	return acts{at, func(_ ExecutorContext, d []core.VertexDecision) ([]core.VertexDecision, string) {
		for i := range d {
			if n, ok := to[d[i].ID]; ok {
				d[i].To = n
			}
		}
		return d, ""
	}}
}

func returns(d []core.VertexDecision, veto string) acts {
	return acts{0, func(ExecutorContext, []core.VertexDecision) ([]core.VertexDecision, string) { return d, veto }}
}

func TestRunExecutors(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		chain    []Named
		change   func(*Job)
		vertices []string
		want     string
		veto     string
	}{
		"none":                              {"", nil, nil, []string{"a g 1->2"}, "a 2", ""},
		"identity":                          {"", []Named{{"x", sets(0, nil)}}, nil, []string{"a g 1->2"}, "a 2", ""},
		"nothing back":                      {"a veto", []Named{{"x", returns(nil, "")}}, nil, []string{"a g 1->2"}, "a 2", "x: gave no vertex back"},
		"a text":                            {"a veto, whatever comes with it", []Named{{"x", returns([]core.VertexDecision{{ID: "a", To: 9}}, "no")}}, nil, []string{"a g 1->2"}, "a 2", "x: no"},
		"a part back":                       {"only what is in it changes", []Named{{"x", returns([]core.VertexDecision{{ID: "b", To: 3}}, "")}}, nil, []string{"a g 1->2", "b g 1->3"}, "a 1, b 3", ""},
		"other sizes":                       {"", []Named{{"x", sets(0, map[string]int{"a": 5})}}, nil, []string{"a g 1->2", "b g 1->3"}, "a 5, b 3", ""},
		"by priority":                       {"the last word counts", []Named{{"x", sets(10, map[string]int{"a": 7})}, {"y", sets(-10, map[string]int{"a": 5})}, {"z", sets(0, map[string]int{"a": 6})}}, nil, []string{"a g 1->2"}, "a 7", ""},
		"equal priority":                    {"as listed", []Named{{"x", sets(0, map[string]int{"a": 7})}, {"y", sets(0, map[string]int{"a": 5})}}, nil, []string{"a g 1->2"}, "a 5", ""},
		"approve, veto":                     {"one veto is enough", []Named{{"x", sets(0, map[string]int{"a": 7})}, {"y", returns(nil, "no")}}, nil, []string{"a g 1->2"}, "a 2", "y: no"},
		"unknown vertex":                    {"ignored", []Named{{"x", returns([]core.VertexDecision{{ID: "a", To: 2}, {ID: "zz", To: 9}}, "")}}, nil, []string{"a g 1->2"}, "a 2", ""},
		"must not change":                   {"ignored", []Named{{"x", sets(0, map[string]int{"b": 9})}}, nil, []string{"a g 1->2", "b g 4->4 held"}, "a 2, b 4", ""},
		"a larger growth of one that stays": {"it may", []Named{{"x", sets(0, map[string]int{"b": 9})}}, nil, []string{"a g 1->2", "b g 4->4"}, "a 2, b 9", ""},
		"smaller than decided":              {"I1: only the strategy knows the evidence", []Named{{"x", sets(0, map[string]int{"a": 2, "b": 2, "c": 2})}}, nil, []string{"a g 4->8", "b g 4->4", "c g 8->6"}, "a 4, b 4, c 6", ""},
		"less of a shrinkage":               {"it may", []Named{{"x", sets(0, map[string]int{"a": 7})}}, nil, []string{"a g 8->6"}, "a 7", ""},
		"nonsense":                          {"within 1 and the key groups", []Named{{"x", sets(0, map[string]int{"a": -5, "b": 1 << 40})}}, nil, []string{"a g 1->2", "b g 1->2"}, "a 1, b 128", ""},
		"partitions":                        {"I3", []Named{{"x", sets(0, map[string]int{"a": 40})}}, func(j *Job) { j.change("a", func(v *core.Vertex) { v.Partitions = 16 }) }, []string{"a g 1->2"}, "a 16", ""},
		"above its partitions, stays":       {"an executor does not bring it down", []Named{{"x", sets(0, map[string]int{"a": 40})}}, func(j *Job) { j.change("a", func(v *core.Vertex) { v.Partitions = 16 }) }, []string{"a g 20->20", "b g 1->2"}, "a 20, b 2", ""},
		"hard limits":                       {"the policy's order", []Named{{"x", sets(0, map[string]int{"a": 40, "b": 1})}}, func(j *Job) { j.Policy.HardMin, j.Policy.HardMax = 3, 16 }, []string{"a g 4->8", "b g 2->3"}, "a 16, b 3", ""},
		"left out, but forced":              {"an executor may not keep the policy's order back", []Named{{"x", returns([]core.VertexDecision{{ID: "b", To: 4}}, "")}}, func(j *Job) { j.Policy.HardMax = 16 }, []string{"a g 20->12", "b g 2->4"}, "a 16, b 4", ""},
		"nothing changes":                   {"nobody is asked", []Named{{"x", returns(nil, "no")}}, nil, []string{"a g 2->2"}, "a 2", ""},
		"nothing left to change":            {"the rest of the chain is not asked", []Named{{"x", sets(0, map[string]int{"a": 1})}, {"y", returns(nil, "no")}}, nil, []string{"a g 1->2"}, "a 1", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, d := jobOf(bounded(0, 0, nil), Facts{}, c.vertices...)
			if c.change != nil {
				c.change(&j)
			}
			before := clone(d)
			got, veto := RunExecutors(c.chain, j, d)
			if sizes(got) != c.want || veto != c.veto {
				t.Errorf("%s: %s, veto %q; want %s, %q", c.reason, sizes(got), veto, c.want, c.veto)
			}
			if diff := cmp.Diff(before, d); diff != "" {
				t.Errorf("the decisions given were written to:\n%s", diff)
			}
			for i, x := range got {
				if n := len(x.Steps); x.To != d[i].To && (n == 0 || x.Steps[n-1].To != x.To) {
					t.Errorf("%s: steps %+v do not end at %d", x.ID, x.Steps, x.To)
				}
			}
		})
	}
}

func TestExecutorsLeaveSteps(t *testing.T) {
	t.Parallel()
	j, d := jobOf(bounded(0, 0, nil), Facts{}, "a g 1->2", "b g 1->2", "c g 1->2")
	d[0].Steps = []core.Step{{By: ByFormula, To: 2}}
	tells := acts{0, func(c ExecutorContext, d []core.VertexDecision) ([]core.VertexDecision, string) {
		d[0].Steps[0].Note = "written over"
		d[0].To, d[0].Steps = 300, append(d[0].Steps, core.Step{By: "me", To: 300, Note: "because " + c.Name})
		d[1].To, d[1].From, d[1].Why = 1, 77, core.ReasonInternal
		return d[:2], ""
	}}
	got, _ := RunExecutors([]Named{{"mine", tells}}, j, d)
	want := []core.VertexDecision{
		{ID: "a", From: 1, To: 128, Wanted: 2, Why: core.ReasonScaleUp, Steps: []core.Step{{By: ByFormula, To: 2}, {By: "executor mine", To: 128, Note: "because mine; it gave 300"}}},
		{ID: "b", From: 1, To: 1, Wanted: 2, Why: core.ReasonVetoed, Steps: []core.Step{{By: "executor mine", To: 1}}},
		{ID: "c", From: 1, To: 1, Wanted: 2, Why: core.ReasonVetoed, Steps: []core.Step{{By: "executor mine", To: 1, Note: "left out"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// of are the parameters of a class, which is among them.
func of(class string, pairs ...string) []policy.Param {
	out := []policy.Param{{Key: "class", Value: class}}
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, policy.Param{Key: pairs[i], Value: pairs[i+1]})
	}
	return out
}

func TestBuiltInExecutors(t *testing.T) {
	t.Parallel()
	limit := of(ClassMaxTotal, "limit", "10")
	cases := map[string]struct {
		reason   string
		class    string
		params   []policy.Param
		vertices []string
		want     string
		veto     string
	}{
		"total below":       {"", ClassMaxTotal, limit, []string{"a g 4->5", "b g 4->5"}, "a 5, b 5", ""},
		"total above":       {"", ClassMaxTotal, limit, []string{"a g 4->5", "b g 4->6"}, "a 5, b 6", "x: 11 subtasks in all would be more than 10, now 8"},
		"above, on the way": {"a shrinkage always passes", ClassMaxTotal, limit, []string{"a g 40->30", "b g 4->6"}, "a 30, b 6", ""},
		"follow":            {"as many as the source", ClassFollowSource, nil, []string{"source g 10->30", "v g 10->15"}, "source 30, v 30", ""},
		"already there":     {"", ClassFollowSource, nil, []string{"source g 10->30", "v g 30->45"}, "source 30, v 30", ""},
		"larger than it":    {"it does not become smaller by that", ClassFollowSource, nil, []string{"source g 10->30", "v g 40->50"}, "source 30, v 40", ""},
		"shrinks":           {"only what grows follows", ClassFollowSource, nil, []string{"source g 10->30", "v g 10->5", "w g 9->9"}, "source 30, v 5, w 9", ""},
		"two sources":       {"the larger one", ClassFollowSource, nil, []string{"source g 10->30", "source2 g 10->20", "v g 10->15"}, "source 30, source2 20, v 30", ""},
		"source stays":      {"absent", ClassFollowSource, nil, []string{"source g 10->10", "v g 10->15"}, "source 10, v 15", "x: no source grows"},
		"source shrinks":    {"", ClassFollowSource, nil, []string{"source g 10->5", "v g 10->15"}, "source 5, v 15", "x: no source grows"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, d := jobOf(bounded(0, 0, nil), Facts{}, c.vertices...)
			for _, id := range []string{"source", "source2"} {
				j.change(id, func(v *core.Vertex) { v.Inputs = nil })
			}
			e, err := BuiltIn().Executors[c.class](c.params)
			if err != nil {
				t.Fatal(err)
			}
			if got, veto := RunExecutors([]Named{{"x", e}}, j, d); sizes(got) != c.want || veto != c.veto {
				t.Errorf("%s: %s, veto %q; want %s, %q", c.reason, sizes(got), veto, c.want, c.veto)
			}
		})
	}
}

func TestParametersOfPlugins(t *testing.T) {
	t.Parallel()
	executor := func(class string) func([]policy.Param) error {
		return func(p []policy.Param) error {
			e, err := BuiltIn().Executors[class](p)
			if err == nil && e.Priority() != -3 {
				t.Errorf("priority %d; want -3", e.Priority())
			}
			return err
		}
	}
	aligner := func(p []policy.Param) error {
		_, err := BuiltIn().Aligners[ClassMultipleOf](p)
		return err
	}
	cases := map[string]struct {
		build  func([]policy.Param) error
		params []policy.Param
		want   string
	}{
		"good":              {executor(ClassMaxTotal), of(ClassMaxTotal, "limit", " 5 ", "priority", "-3"), ""},
		"good, no need":     {executor(ClassFollowSource), of(ClassFollowSource, "priority", "-3"), ""},
		"good alignment":    {aligner, of(ClassMultipleOf, "of", "4"), ""},
		"nothing given":     {executor(ClassMaxTotal), of(ClassMaxTotal), "limit: must be given"},
		"not a number":      {executor(ClassMaxTotal), of(ClassMaxTotal, "limit", "many"), `limit: must be a whole number of at least 1, got "many"`},
		"too small":         {executor(ClassMaxTotal), of(ClassMaxTotal, "limit", "0"), `limit: must be a whole number of at least 1, got "0"`},
		"too large":         {aligner, of(ClassMultipleOf, "of", "3000000000"), `of: must be a whole number of at least 1, got "3000000000"`},
		"unknown parameter": {executor(ClassFollowSource), of(ClassFollowSource, "cpu", "1"), "cpu: unknown parameter"},
		"all problems":      {aligner, of(ClassMultipleOf, "of", "x", "off", "3"), "of: must be a whole number of at least 1, got \"x\"\noff: unknown parameter"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if err := c.build(c.params); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%q; want %q", got, c.want)
			}
		})
	}
	delete(BuiltIn().Executors, ClassMaxTotal)
	if len(BuiltIn().Executors) != 2 || len(BuiltIn().Aligners) != 1 {
		t.Error("what one program does to its plugins shows in another")
	}
}

func TestMultipleOf(t *testing.T) {
	t.Parallel()
	p := upTo(1, 100, policy.AlignCustom)
	p.AlignmentPlugin = &policy.Plugin{Name: "fours", Class: ClassMultipleOf, Params: of(ClassMultipleOf, "of", "4")}
	a, err := BuiltIn().Aligners[ClassMultipleOf](p.AlignmentPlugin.Params)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reason string
		v      core.Vertex
		factor float64
		want   int
	}{
		{"the next multiple", vertexOf(4, 0, 128, false), 2.5, 12},
		{"one already", vertexOf(4, 0, 128, false), 2, 8},
		{"hash inputs too", vertexOf(4, 0, 128, true), 2.5, 12},
		{"the next is above the partitions", vertexOf(4, 11, 128, false), 2.5, 8},
		{"none in reach", vertexOf(9, 11, 128, false), 1.1, 10},
		{"down", vertexOf(10, 0, 128, false), 0.5, 8},
		{"down to itself", vertexOf(8, 0, 128, false), 0.7, 8},
		{"down: the next would be more than now", vertexOf(11, 0, 128, false), 0.9, 8},
	} {
		if d := SizeOf(Input{Vertex: c.v, Policy: p, Aligner: a, Evidence: evidenceOf(c.factor)}); d.To != c.want {
			t.Errorf("%s: %d by %+v; want %d", c.reason, d.To, d.Steps, c.want)
		}
	}
}
