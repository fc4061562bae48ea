//go:build e2e

package operator_test

import (
	"os"
	"strings"
	"testing"

	"flinkscaler/internal/kubelocal/kubetest"
	"flinkscaler/internal/kubelocal/operator"
)

func TestMain(m *testing.M) { os.Exit(kubetest.Main(m)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAKilledOperatorCanBeLaunchedAgain(t *testing.T) {
	o, err := operator.Start(t.Context(), operator.Options{Plane: kubetest.Plane(t), Dir: t.TempDir(), Log: t.Output()})
	must(t, err)
	t.Cleanup(func() { must(t, o.Close()) })
	pid := o.Process().PID()
	must(t, o.Process().Kill())
	if err := o.WaitHealthy(t.Context()); err == nil || !strings.Contains(err.Error(), "it ended") {
		t.Errorf("a killed operator is waited for: %v", err)
	}
	must(t, o.Process().Launch())
	must(t, o.WaitHealthy(t.Context()))
	if o.Process().PID() == pid {
		t.Error("it is the same process")
	}
	must(t, o.Close())
	if o.Process().Alive() {
		t.Error("a closed operator runs")
	}
}

// TestAnOperatorThatCannotStart says what the operator said.
func TestAnOperatorThatCannotStart(t *testing.T) {
	_, err := operator.Start(t.Context(), operator.Options{
		Plane: kubetest.Plane(t), Dir: t.TempDir(),
		Config: map[string]string{"kubernetes.operator.reconcile.interval": "never"},
	})
	if err == nil || !strings.Contains(err.Error(), "never") {
		t.Errorf("error %v; want the operator's words", err)
	}
}
