package scale

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFactsOf(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		config map[string]string
		want   Facts
	}{
		"nothing":            {"Flink's default is one slot; the rest is not known", nil, Facts{SlotsPerTM: 1}},
		"all":                {"", map[string]string{optSlots: " 4 ", optCPU: "2.5", optProcess: "2 gb"}, Facts{4, 2.5, 2 << 30}},
		"older key":          {"what the operator sets", map[string]string{optCPUOld: "2"}, Facts{SlotsPerTM: 1, TMCPU: 2}},
		"newer key wins":     {"", map[string]string{optCPUOld: "2", optCPU: "3"}, Facts{SlotsPerTM: 1, TMCPU: 3}},
		"one per slot":       {"Flink's own default, where it is written down", map[string]string{optSlots: "4", optCPU: "-1.0"}, Facts{SlotsPerTM: 4, TMCPU: 4}},
		"derived":            {"with metaspace, and an overhead of a ninth of both", map[string]string{optFlink: "2 gb"}, Facts{SlotsPerTM: 1, TMMemory: 2<<30 + 256<<20 + 268435460}},
		"does not add up":    {"the process is as large as it says all the same", map[string]string{optProcess: "100 mb"}, Facts{SlotsPerTM: 1, TMMemory: 100 << 20}},
		"nonsense":           {"not a default, but not known", map[string]string{optSlots: "many", optCPU: "NaN", optProcess: "big"}, Facts{}},
		"no slots":           {"", map[string]string{optSlots: "0", optCPU: "-1"}, Facts{}},
		"cores not a number": {"", map[string]string{optCPU: "two", optCPUOld: "2"}, Facts{SlotsPerTM: 1}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, FactsOf(c.config)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
