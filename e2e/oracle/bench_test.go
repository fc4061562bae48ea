package oracle

import (
	"testing"

	"flinkscaler/core/policy"
)

func BenchmarkOurs(b *testing.B) {
	for _, q := range []policy.Quirk{0, policy.AllQuirks} {
		b.Run(map[bool]string{true: "released", false: "ours"}[q != 0], func(b *testing.B) {
			c := Generate(1, 3)
			var looks []Look
			for range c.Cycles {
				looks = append(looks, c.world.step())
			}
			for b.Loop() {
				o := NewOurs(c.Options, q)
				for _, l := range looks {
					o.Cycle(Cycle{Measurement: Measure(l)})
				}
			}
		})
	}
}
