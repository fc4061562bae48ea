//go:build e2e

package k8s

import (
	"testing"

	"flinkscaler/internal/kubelocal/kubetest"
	"flinkscaler/internal/kubesim/operatortest"
)

// TestTheRealOperatorInTheSameCases runs what operators that are played must pass on the real one.
func TestTheRealOperatorInTheSameCases(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	operatortest.Run(t, operatortest.Rig{
		Config: kubetest.Plane(t).Config(), Namespace: r.namespace, Source: "gen", Work: "slow",
		Deployment: func(t *testing.T, called string) string {
			d, rates := kubetest.Application(t, called)
			must(t, rates.Set(300))
			r.apply(d.Manifest())
			return d.URL()
		},
	})
}
