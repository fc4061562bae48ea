package telemetry

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"flinkscaler/core"
)

// forgetAfter is when a job that is no longer decided on by this process drops
// out: it ended, or another worker has it.
const forgetAfter = 24 * time.Hour

// Decisions remembers when each job was last decided on, and shows the age at
// the time of the scrape: an age grows by itself when nothing happens any
// more, which is what an alert has to see.
type Decisions struct {
	now  func() time.Time
	desc *prometheus.Desc

	mu   sync.Mutex
	last map[core.JobKey]time.Time
}

// NewDecisions makes an empty one.
func NewDecisions(now func() time.Time) *Decisions {
	return &Decisions{
		now: now, last: map[core.JobKey]time.Time{},
		desc: prometheus.NewDesc("flink_autoscaler_last_decision_age_seconds",
			"Time since this process last decided on the job, a hold included; with several workers take the minimum over them. A job without a decision for 24 h is left out.",
			[]string{"cluster", "job"}, nil),
	}
}

// Decided notes a decision.
func (d *Decisions) Decided(key core.JobKey, _ core.Decision, at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if at.After(d.last[key]) {
		d.last[key] = at
	}
}

// Describe names the metric.
func (d *Decisions) Describe(out chan<- *prometheus.Desc) { out <- d.desc }

// Collect gives the age of each job, and forgets the old ones.
func (d *Decisions) Collect(out chan<- prometheus.Metric) {
	now := d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	for key, at := range d.last {
		age := now.Sub(at)
		if age > forgetAfter {
			delete(d.last, key)
			continue
		}
		// A clock that was set back makes no negative age.
		out <- prometheus.MustNewConstMetric(d.desc, prometheus.GaugeValue, max(age, 0).Seconds(), key.Cluster, key.Job)
	}
}
