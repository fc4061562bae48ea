package telemetry

import (
	"io"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/uber-go/tally/v4"
	tallyprom "github.com/uber-go/tally/v4/prometheus"
	"go.temporal.io/sdk/client"
	contribtally "go.temporal.io/sdk/contrib/tally"

	"flinkscaler/internal/logging"
)

// flushEvery is how old a number of the SDK may be when it is scraped.
const flushEvery = time.Second

// buckets of all latencies, in seconds: from a local activity to a rescale.
func buckets() []float64 {
	return []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 900}
}

// Metrics is everything that one process measures.
type Metrics struct {
	Registry *prometheus.Registry
	// Decisions takes the decisions of this process.
	Decisions *Decisions
	handler   client.MetricsHandler
	scope     io.Closer
}

// NewMetrics makes them. Close it at the end.
func NewMetrics(version string, log hclog.Logger, now func() time.Time) *Metrics {
	registry := prometheus.NewRegistry()
	decisions := NewDecisions(now)
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "flink_autoscaler_build_info", Help: "Always 1; the version of this process is the label.",
	}, []string{"version"})
	build.WithLabelValues(version).Set(1)
	registry.MustRegister(decisions, build, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	reporter := tallyprom.NewReporter(tallyprom.Options{
		Registerer: registry, DefaultTimerType: tallyprom.HistogramTimerType, DefaultHistogramBuckets: buckets(),
		OnRegisterError: func(err error) { log.Warn("a metric is left out", logging.KeyError, err) },
	})
	sanitize := sanitizing()
	scope, closer := tally.NewRootScope(tally.ScopeOptions{
		CachedReporter: reporter, Separator: tallyprom.DefaultSeparator, SanitizeOptions: &sanitize, OmitCardinalityMetrics: true,
	}, flushEvery)
	return &Metrics{
		Registry: registry, Decisions: decisions, scope: closer,
		handler: contribtally.NewMetricsHandler(contribtally.NewPrometheusNamingScope(scope)),
	}
}

// Temporal is the handler for the SDK's options. Counters get "_total" and
// latencies "_seconds" at the end of their name.
func (m *Metrics) Temporal() client.MetricsHandler { return m.handler }

// Close writes what is still buffered.
func (m *Metrics) Close() error { return m.scope.Close() }

// sanitizing keeps names to what Prometheus allows, and values as they are:
// the SDK's default would turn "scale-up" into "scale_up" and two clusters
// "prod-eu" and "prod_eu" into one.
func sanitizing() tally.SanitizeOptions {
	out := contribtally.PrometheusSanitizeOptions
	out.ValueCharacters = tally.ValidCharacters{Ranges: []tally.SanitizeRange{{' ', '\U0010FFFF'}}}
	return out
}
