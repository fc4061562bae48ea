package scale

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const gib = int64(1) << 30

func TestDeriveMemory(t *testing.T) {
	t.Parallel()
	type config map[string]string
	framework := tmMemory{frameworkHeap: 128 * mib, frameworkOffHeap: 128 * mib, metaspace: 256 * mib}
	with := func(change func(*tmMemory)) tmMemory {
		m := framework
		change(&m)
		return m
	}
	cases := map[string]struct {
		reason string
		config config
		want   tmMemory
	}{
		"30 gb": {"the bytes of the Java autoscaler's own test", config{optProcess: "30 gb"}, with(func(m *tmMemory) {
			m.managed, m.network, m.taskHeap, m.overhead = 12348031160, 3087007790, 15300820762-128*mib, 1024*mib
		})},
		"small": {"overhead and network at their least: 576 mb are left to Flink", config{optProcess: "1 gb"}, with(func(m *tmMemory) {
			m.managed, m.network, m.overhead = 241591914, 64*mib, 192*mib
			m.taskHeap = 576*mib - 256*mib - m.managed - m.network
		})},
		"own memory of Flink": {"a ninth of it and the metaspace is overhead, in 32 bits", config{optFlink: "2 gb"}, with(func(m *tmMemory) {
			m.managed, m.network, m.overhead = 858993472, 214748368, 268435460
			m.taskHeap = 2*gib - 256*mib - m.managed - m.network
		})},
		"all parts": {"network is a ninth of them", config{optTaskHeap: "1 gb", optManaged: "512 mb"}, with(func(m *tmMemory) {
			m.taskHeap, m.managed, m.network, m.overhead = gib, 512*mib, 208783135, 261807424
		})},
		"all parts of a whole": {"network is what is left", config{optTaskHeap: "1 gb", optManagedOld: "512 mb", optFlink: "2 gb", optNetworkMax: "1 gb"}, with(func(m *tmMemory) {
			m.taskHeap, m.managed, m.network, m.overhead = gib, 512*mib, 256*mib, 268435460
		})},
		"heap given": {"managed by its fraction, network is what is left", config{optProcess: "4 gb", optTaskHeap: "1 gb", optManagedFraction: "0.5"}, with(func(m *tmMemory) {
			m.overhead = 429496736
			flink := 4*gib - 256*mib - m.overhead
			m.taskHeap, m.managed = gib, flink/2
			m.network = flink - gib - m.managed - 256*mib
		})},
		"process and Flink": {"overhead is what is left", config{optProcess: "3 gb", optFlink: "2560 mb"}, with(func(m *tmMemory) {
			m.managed, m.network, m.overhead = 1073741840, 268435460, 256*mib
			m.taskHeap = 2560*mib - 256*mib - m.managed - m.network
		})},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := deriveMemory(c.config)
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(tmMemory{})); err != nil || diff != "" {
				t.Errorf("%s, %v (-want +got):\n%s", c.reason, err, diff)
			}
		})
	}
}

func TestMemoryThatDoesNotAddUp(t *testing.T) {
	t.Parallel()
	type config map[string]string
	cases := map[string]struct {
		reason string
		config config
	}{
		"nothing":              {"Flink does not start so either", nil},
		"too small":            {"no room for a heap", config{optProcess: "500 mb"}},
		"smaller than the JVM": {"", config{optProcess: "300 mb"}},
		"parts too large":      {"", config{optFlink: "1 gb", optTaskHeap: "1 gb"}},
		"network too large":    {"all parts leave more than its most", config{optTaskHeap: "1 gb", optManaged: "1 gb", optFlink: "9 gb", optNetworkMax: "1 gb"}},
		"overhead too large":   {"what is left is more than its most", config{optProcess: "30 gb", optFlink: "2 gb"}},
		"not a size":           {"", config{optProcess: "30 gb", optMetaspace: "plenty"}},
		"no machine":           {"sums stay within 64 bits", config{optProcess: "8000000 tb"}},
		"not a fraction":       {"", config{optProcess: "30 gb", optOverheadFraction: "1.5"}},
		"not a number":         {"", config{optProcess: "30 gb", optManagedFraction: "NaN"}},
		"limits crossed":       {"", config{optProcess: "30 gb", optNetworkMin: "2 gb", optNetworkMax: "1 gb"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := deriveMemory(c.config); err == nil {
				t.Errorf("%s: %+v; want an error", c.reason, got)
			}
		})
	}
}

// TestTimesIsDecimal: in binary 100 * 0.29 is a little less than 29.
func TestTimesIsDecimal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n    int64
		f    float64
		want int64
	}{{100, 0.29, 29}, {99, 0.29, 28}, {0, 0.5, 0}, {1 << 62, 3, unlimited}} {
		if got := times(c.n, c.f); got != c.want {
			t.Errorf("%d times %v is %d; want %d", c.n, c.f, got, c.want)
		}
	}
}
