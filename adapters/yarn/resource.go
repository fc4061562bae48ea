package yarn

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// resource is an amount of memory, in MB as YARN counts it (2^20 bytes), and of
// virtual cores.
type resource struct{ memory, cores int64 }

// mostOf bounds every number that a ResourceManager may say: sums of them stay whole.
const mostOf = 1 << 50

// UnmarshalJSON takes numbers as numbers or as texts. What is neither is 0.
func (r *resource) UnmarshalJSON(b []byte) error {
	var body struct {
		Memory count `json:"memory"`
		Cores  count `json:"vCores"`
	}
	if err := json.Unmarshal(b, &body); err != nil {
		return err
	}
	*r = resource{int64(body.Memory), int64(body.Cores)}
	return nil
}

func (r resource) plus(o resource) resource { return resource{r.memory + o.memory, r.cores + o.cores} }

func (r resource) minus(o resource) resource {
	return resource{r.memory - o.memory, r.cores - o.cores}
}

// holds says how many of a size fit in, by memory and by cores. What the size needs
// nothing of is no bound.
func (r resource) holds(one resource) (byMemory, byCores int) {
	return times(r.memory, one.memory), times(r.cores, one.cores)
}

func times(all, one int64) int {
	if one <= 0 {
		return math.MaxInt32
	}
	return int(min(max(0, all/one), math.MaxInt32))
}

// count is a whole number as some version writes it: 3, 3.0 or "3".
type count int64

// UnmarshalJSON never fails: what is no number is 0.
func (c *count) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	if err != nil || math.IsNaN(f) {
		f = 0
	}
	*c = count(max(-mostOf, min(mostOf, f)))
	return nil
}

// several is a list of which some versions write one element without brackets, and
// none as null, "" or {}.
type several[T any] []T

// UnmarshalJSON takes all of these.
func (s *several[T]) UnmarshalJSON(b []byte) error {
	switch text := string(b); {
	case text == "null", text == `""`, text == "{}":
		*s = nil
		return nil
	case strings.HasPrefix(text, "["):
		var all []T
		err := json.Unmarshal(b, &all)
		*s = all
		return err
	}
	var one T
	if err := json.Unmarshal(b, &one); err != nil {
		return err
	}
	*s = several[T]{one}
	return nil
}
