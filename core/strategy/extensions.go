package strategy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"flinkscaler/core"
	"flinkscaler/core/evaluate"
	"flinkscaler/core/policy"
	"flinkscaler/core/scale"
)

// Extensions are the plugins that policies may name, by class. A program of its
// own begins with BuiltIn and adds to it.
type Extensions struct {
	// Evaluators change what was evaluated of a vertex (FLIP-514).
	Evaluators map[string]func([]policy.Param) (evaluate.Evaluator, error)
	// Scale holds alignments (FLIP-586) and executors (FLIP-575).
	Scale scale.Extensions
}

// BuiltIn are the plugins that come with flinkscaler.
func BuiltIn() Extensions {
	return Extensions{
		Evaluators: map[string]func([]policy.Param) (evaluate.Evaluator, error){evaluate.LeastRateClass: evaluate.NewLeastRate},
		Scale:      scale.BuiltIn(),
	}
}

// plugins are those of one policy.
type plugins struct {
	evaluator evaluate.Evaluator
	aligner   scale.Aligner
	executors []scale.Named
}

// load makes the plugins that a policy names, and lists what is wrong with
// them.
func (q *plugins) load(x Extensions, p policy.Policy) []core.Problem {
	var problems []core.Problem
	bad := func(key string, plugin policy.Plugin, err error) {
		problems = append(problems, core.Problem{Path: fmt.Sprintf("policy[%q]", policy.Prefix+key+plugin.Name), Message: err.Error()})
	}
	if e := p.Evaluator; e != nil {
		made, err := made(x.Evaluators, *e)
		if err != nil {
			bad("metrics.custom-evaluator.", *e, err)
		} else {
			q.evaluator = guardedEvaluator{name: e.Name, Evaluator: made}
		}
	}
	if a := p.AlignmentPlugin; a != nil {
		made, err := made(x.Scale.Aligners, *a)
		if err != nil {
			bad("scaling.parallelism-alignment.mode.", *a, err)
		} else {
			q.aligner = guardedAligner{name: a.Name, Aligner: made}
		}
	}
	for _, e := range p.Executors {
		executor, err := made(x.Scale.Executors, e)
		if err != nil {
			bad("scaling.custom-executor.", e, err)
			continue
		}
		q.executors = append(q.executors, scale.Named{Name: e.Name, Executor: guardedExecutor{name: e.Name, Executor: executor}})
	}
	return problems
}

// made makes a plugin of its class.
func made[T any](known map[string]func([]policy.Param) (T, error), p policy.Plugin) (T, error) {
	construct, ok := known[p.Class]
	if !ok {
		var none T
		return none, fmt.Errorf("unknown class %q; known are %s", p.Class, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	return construct(p.Params)
}
