package strategy

import (
	"fmt"

	"flinkscaler/core"
	"flinkscaler/core/evaluate"
	"flinkscaler/core/scale"
)

// A plugin that panics is no fault of ours, and the hold that comes of it names
// the plugin.
func blame(kind, name string) {
	if r := recover(); r != nil {
		panic(fmt.Sprintf("the %s %q: %v", kind, name, r))
	}
}

type guardedEvaluator struct {
	evaluate.Evaluator
	name string
}

func (g guardedEvaluator) Evaluate(c evaluate.CustomContext) evaluate.Custom {
	defer blame("evaluator", g.name)
	return g.Evaluator.Evaluate(c)
}

type guardedAligner struct {
	scale.Aligner
	name string
}

func (g guardedAligner) Align(c scale.AlignContext) int {
	defer blame("alignment", g.name)
	return g.Aligner.Align(c)
}

// Applicable asks an alignment that says itself which vertices it is for.
func (g guardedAligner) Applicable(c scale.AlignContext) bool {
	defer blame("alignment", g.name)
	a, ok := g.Aligner.(scale.Applicable)
	return !ok && c.N > 0 || ok && a.Applicable(c)
}

type guardedExecutor struct {
	scale.Executor
	name string
}

func (g guardedExecutor) Apply(c scale.ExecutorContext, decisions []core.VertexDecision) ([]core.VertexDecision, string) {
	defer blame("executor", g.name)
	return g.Executor.Apply(c, decisions)
}
