package scale

import "flinkscaler/core/policy"

// ClassMultipleOf is an alignment that rounds up to a multiple of a number, such
// as the slots of a TaskManager or the shards of a database. It is for vertices
// of any kind. Parameter: of, at least 1.
const ClassMultipleOf = "multiple-of"

type multipleOf struct{ of int }

func newMultipleOf(given []policy.Param) (Aligner, error) {
	p := open(given)
	m := multipleOf{of: p.whole("of", 1, -1)}
	return m, p.done()
}

// Applicable is true for any vertex.
func (multipleOf) Applicable(AlignContext) bool { return true }

// Align takes the next multiple that the limits allow, else the largest below.
// None of them in reach leaves the number as it is.
func (m multipleOf) Align(c AlignContext) int {
	up := managers(c.To, m.of) * m.of
	if up <= c.Upper {
		return up
	}
	if down := up - m.of; down >= c.Lower && down > 0 {
		return down
	}
	return c.To
}
