package kubetest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"flinkscaler/internal/kubelocal"
)

// shared is the plane of this test run. It starts when the first test asks for it.
var shared struct { //nolint:gochecknoglobals // one plane for the whole run is the point
	start sync.Once
	crds  []string
	plane *kubelocal.Plane
	err   error
}

// Main runs the tests and ends the plane, if there was one. Its result is the exit code. The plane has the given CRDs,
// besides those of the Flink operator.
func Main(m *testing.M, crds ...string) int {
	shared.crds = crds
	code := m.Run()
	if shared.plane == nil {
		return code
	}
	if err := shared.plane.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// Plane is the plane of this test run: with controllers, and with the CRDs of the Flink operator.
func Plane(t testing.TB) *kubelocal.Plane {
	t.Helper()
	shared.start.Do(func() { shared.plane, shared.err = start(shared.crds) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.plane
}

// start does not take a test's context: the plane outlives the test that asks first.
func start(crds []string) (*kubelocal.Plane, error) {
	operators, err := kubelocal.OperatorCRDs()
	if err != nil {
		return nil, err
	}
	return kubelocal.Start(context.Background(), kubelocal.Options{
		ControllerManager: true, CRDs: append(operators, crds...), Log: os.Stderr,
	})
}

// Namespace makes a namespace for a test.
func Namespace(t testing.TB) string {
	t.Helper()
	name, err := Plane(t).Namespace(t.Context(), t.Name())
	if err != nil {
		t.Fatal(err)
	}
	return name
}
