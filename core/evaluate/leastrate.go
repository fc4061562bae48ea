package evaluate

import (
	"fmt"
	"strconv"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// LeastRate is an Evaluator that plans every source, or one, for at least a
// rate of records per second: a load that is known to come.
//
// Parameters: rate, above 0; vertex, the id of one source, all without it.
type LeastRate struct {
	Rate   float64
	Vertex string
}

// LeastRateClass names LeastRate in a policy.
const LeastRateClass = "least-rate"

// NewLeastRate reads the parameters of a policy. Unknown ones are an error, but
// for class.
func NewLeastRate(params []policy.Param) (Evaluator, error) {
	var e LeastRate
	for _, p := range params {
		switch p.Key {
		case "class":
		case "rate":
			rate, err := strconv.ParseFloat(p.Value, 64)
			if err != nil || !(rate > 0) || core.Read(rate).State() != core.Present {
				return nil, fmt.Errorf("rate must be a number above 0, got %q", p.Value)
			}
			e.Rate = rate
		case "vertex":
			e.Vertex = p.Value
		default:
			return nil, fmt.Errorf("unknown parameter %q; known are rate, vertex", p.Key)
		}
	}
	if e.Rate == 0 {
		return nil, fmt.Errorf("rate is missing")
	}
	return e, nil
}

// Evaluate raises the target rate of a source to the least rate.
func (e LeastRate) Evaluate(c CustomContext) Custom {
	rate, ok := c.Evaluated.TargetRate.Value()
	if !c.Vertex.IsSource() || !ok || rate >= e.Rate || (e.Vertex != "" && e.Vertex != c.Vertex.ID) {
		return Custom{}
	}
	return Custom{TargetRate: core.Read(e.Rate), Note: fmt.Sprintf("planned for at least %s/s instead of %s/s", core.Decimal(core.Read(e.Rate)), core.Decimal(c.Evaluated.TargetRate))}
}
