package config

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/core/share"
)

func TestShare(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		text   string
		want   share.Limits
	}{
		"off":      {"nothing is shared unless the file says so", "", share.Limits{}},
		"slots":    {"one limit is enough", ", share: {slots: 40}", share.Limits{Slots: 40, Lease: 10 * time.Minute}},
		"rescales": {"one limit is enough", ", share: {rescales: 2}", share.Limits{Rescales: 2, Lease: 10 * time.Minute}},
		"all":      {"as it stands there", ", share: {slots: 40, rescales: 2, lease: 5 min}", share.Limits{Slots: 40, Rescales: 2, Lease: 5 * time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := load(t, Source{File: write(t, `clusters: {dev: {flink: {url: "http://127.0.0.1:8081"}`+tt.text+`}}`)})
			if diff := cmp.Diff(tt.want, cfg.Clusters[0].Share); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}
