package strategy

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"flinkscaler/core"
	"flinkscaler/core/evaluate"
	"flinkscaler/core/policy"
)

// evaluator is an Evaluator of a function.
type evaluator func(evaluate.CustomContext) evaluate.Custom

func (f evaluator) Evaluate(c evaluate.CustomContext) evaluate.Custom { return f(c) }

// TestAPluginOfAProgramOfItsOwn: added by class, found by a policy.
func TestAPluginOfAProgramOfItsOwn(t *testing.T) {
	t.Parallel()
	ctx, p := saturated()
	p.Evaluator = &policy.Plugin{Name: "mine", Class: "twice"}
	x := BuiltIn()
	x.Evaluators["twice"] = func([]policy.Param) (evaluate.Evaluator, error) {
		return evaluator(func(c evaluate.CustomContext) evaluate.Custom {
			return evaluate.Custom{TargetRate: c.Evaluated.TargetRate.Map(func(x float64) float64 { return 2 * x })}
		}), nil
	}
	if d, _, _ := x.Decide(ctx, p, nil); d.Verdict != core.Change || d.Vertices[0].TargetRate.Or(0) != 2000 {
		t.Errorf("%s %s: %s", d.Verdict, d.Reason, d.Note)
	}
	if d, _, _ := Decide(ctx, p, nil); d.Reason != core.ReasonPolicyInvalid || !strings.Contains(d.Problems[0].Message, `unknown class "twice"; known are least-rate`) {
		t.Errorf("without it: %s, %v", d.Reason, d.Problems)
	}
}

// TestAPluginThatFails is a hold, whatever it does.
func TestAPluginThatFails(t *testing.T) {
	t.Parallel()
	ctx, p := saturated()
	p.Evaluator = &policy.Plugin{Name: "mine", Class: "broken"}
	x := BuiltIn()
	x.Evaluators["broken"] = func([]policy.Param) (evaluate.Evaluator, error) {
		return evaluator(func(evaluate.CustomContext) evaluate.Custom { panic("out of range") }), nil
	}
	if d, _, _ := x.Decide(ctx, p, nil); d.Verdict != core.Hold || d.Reason != core.ReasonInternal || !strings.Contains(d.Note, `the evaluator "mine": out of range`) {
		t.Errorf("%s %s: %s", d.Verdict, d.Reason, d.Note)
	}
}

// TestDocumentedPlugins: docs/extending.md names every class, and its policy is
// a good one.
func TestDocumentedPlugins(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/extending.md")
	if err != nil {
		t.Fatal(err)
	}
	x := BuiltIn()
	for _, class := range slices.Concat(slices.Collect(maps.Keys(x.Evaluators)), slices.Collect(maps.Keys(x.Scale.Aligners)), slices.Collect(maps.Keys(x.Scale.Executors))) {
		if !strings.Contains(string(text), "| `"+class+"` |") {
			t.Errorf("docs/extending.md has no row for the class %s", class)
		}
	}
	values := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^(job\.autoscaler\.\S+): "?([^"\n]+)"?$`).FindAllStringSubmatch(string(text), -1) {
		values[m[1]] = m[2]
	}
	if len(values) < 3 {
		t.Fatalf("only %v was found in docs/extending.md", values)
	}
	ctx, _ := saturated()
	d, _, _ := DecideLayers(ctx, []policy.Layer{{Name: "input", Values: values}})
	if d.Reason != core.ReasonScaleUp || len(d.Problems) > 0 || d.Vertices[0].TargetRate.Or(0) != 50000 {
		t.Errorf("%s %s, problems %v", d.Verdict, d.Reason, d.Problems)
	}
}
