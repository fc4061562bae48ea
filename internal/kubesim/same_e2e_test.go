//go:build e2e

package kubesim

import (
	"fmt"
	"testing"

	"flinkscaler/internal/kubelocal/kubetest"
	"flinkscaler/internal/kubesim/operatortest"
)

// TestSameCases are those that the real operator passes too.
func TestSameCases(t *testing.T) {
	t.Parallel()
	for _, version := range []string{Operator115, Operator17} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			ns := kubetest.Namespace(t)
			kubeletFor(t, ns, KubeletOptions{Flink: nimble()})
			operatorFor(t, ns, Options{Version: version})
			operatortest.Run(t, operatortest.Rig{
				Config: kubetest.Plane(t).Config(), Namespace: ns, Source: "Source: numbers", Work: "work",
				Deployment: func(t *testing.T, called string) string {
					p := port(t)
					if err := kubetest.Plane(t).Apply(t.Context(), ns, manifest(t, called, p)); err != nil {
						t.Fatal(err)
					}
					return fmt.Sprintf("http://127.0.0.1:%d", p)
				},
			})
		})
	}
}
