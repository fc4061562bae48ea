package workflows

import (
	"testing"
	"time"

	"flinkscaler/core/policy"
)

// FuzzDecodeMessage: whatever comes as a message, it is read or refused, and
// what is read is bounded and can be judged.
func FuzzDecodeMessage(f *testing.F) {
	for _, o := range orders() {
		for _, raw := range []string{
			``, `null`, `{}`, `[]`, `"{\"by\": \"ann\"}"`, `{"by": "ann", "for": "2 h", "until": "2027-01-01T00:00:00Z"}`, `{"parallelism": 4, "id": "x"}`,
			`{"vertices": {"a": 1, "b": 2}}`, `{"decision": "1-1"}`, `{"policy": {"job.autoscaler.interval": "10 s", "job.autoscaler.nonsense": null}}`,
			`{"policy": {"job.autoscaler.interval": 1e400, "job.autoscaler.interval": [1]}}`, `{"policy": {"": true}}`,
		} {
			f.Add(o.name, []byte(raw))
		}
	}
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, name string, raw []byte) {
		m, problems := decode(name, raw, now)
		if len(problems) > 0 {
			return
		}
		if len(m.By) > maxText || len(m.Reason) > maxText || len(m.ID) > maxText || len(m.Decision) > maxText {
			t.Errorf("a text is too long: %+v", m)
		}
		if !m.Until.IsZero() && (!m.Until.After(now) || m.Until.Sub(now) > maxPeriod) {
			t.Errorf("it ends at %s", m.Until)
		}
		s := State{}
		j := s.judge(m)
		if len(j.Problems) > 0 {
			return
		}
		s.apply(m, j, now)
		if n := len(s.Set); n > 100 {
			t.Errorf("%d keys", n)
		}
		if _, _, problems := policy.Resolve(s.layers()); len(problems) > 0 {
			t.Errorf("a policy with problems was set: %v", problems)
		}
	})
}
