package flags

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParsePeriod(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason, text string
		want         time.Duration
	}{
		"as Go":       {"what people type", "1h30m", 90 * time.Minute},
		"as Flink":    {"what stands in configurations", "30 min", 30 * time.Minute},
		"ISO":         {"Flink takes it", "PT5M", 5 * time.Minute},
		"bare number": {"milliseconds to Flink, something else to people", "5", 0},
		"nothing":     {"no length", "", 0},
		"zero":        {"no time at all", "0s", 0},
		"negative":    {"the past", "-5m", 0},
		"too long":    {"more than a year", "367 d", 0},
		"no unit":     {"no such unit", "10y", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p Period
			err := p.Set(tt.text)
			if time.Duration(p) != tt.want || (err == nil) != (tt.want > 0) {
				t.Errorf("%s: %q is %v, %v; want %v", tt.reason, tt.text, time.Duration(p), err, tt.want)
			}
		})
	}
	p := Period(90 * time.Second)
	if p.String() != "90 s" || p.Type() != "duration" || new(Period).String() != "" {
		t.Errorf("it is shown as %q of type %s", p.String(), p.Type())
	}
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	keys, problems := Policy([]string{"metrics.window=5 min", "job.autoscaler.interval = 10 s", "interval=20 s", "nothing", "kubernetes.operator.job.autoscaler.x=a=b"})
	if diff := cmp.Diff(map[string]string{
		"job.autoscaler.metrics.window": "5 min", "job.autoscaler.interval": "10 s", "kubernetes.operator.job.autoscaler.x": "a=b",
	}, keys); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`--policy "interval=20 s": is given twice`, `--policy "nothing": must be key=value`}, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}
