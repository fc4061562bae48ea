package config

import (
	"time"

	"flinkscaler/core/policy"
	"flinkscaler/core/share"
)

// longestLease is more than any rescale may take between two renewals.
const longestLease = 24 * time.Hour

// share decodes what the jobs of a cluster have together. The section is there
// to limit something, so it must say what.
func (d *decoder) share(path string, raw any, given bool) share.Limits {
	s := d.section(path, raw, "slots", "rescales", "lease")
	if !given || !s.valid {
		return share.Limits{}
	}
	l := share.Limits{Lease: share.DefaultLease}
	s.integer("slots", &l.Slots, 1)
	s.integer("rescales", &l.Rescales, 1)
	s.duration("lease", &l.Lease, MinLease)
	if l.Lease > longestLease {
		d.problem(path+".lease", "must be at most %s", policy.FormatDuration(longestLease))
	}
	_, slots := s.values["slots"]
	_, rescales := s.values["rescales"]
	if !slots && !rescales {
		d.problem(path, "limits nothing; give slots, rescales or both, or leave it out")
	}
	return l
}
