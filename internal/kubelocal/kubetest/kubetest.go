package kubetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"

	"flinkscaler/e2e/testjob"
	"flinkscaler/internal/kubelocal"
	"flinkscaler/internal/kubelocal/kubelet"
	"flinkscaler/internal/kubelocal/operator"
)

// shared is what the tests of this run have together. Each part starts when the first test asks for it.
var shared struct { //nolint:gochecknoglobals // one for the whole run is the point
	crds  []string
	dir   string
	plane part[*kubelocal.Plane]
	pods  part[*kubelet.Kubelet]
	flink part[*operator.Operator]
}

// part is something that is started once.
type part[T io.Closer] struct {
	once  sync.Once
	value T
	err   error
	runs  bool
}

// get starts it when nobody did. It does not take a test's context: what it starts outlives the test that asks first.
func (p *part[T]) get(t testing.TB, start func(ctx context.Context) (T, error)) T {
	t.Helper()
	p.once.Do(func() {
		p.value, p.err = start(context.Background())
		p.runs = p.err == nil
	})
	if p.err != nil {
		t.Fatal(p.err)
	}
	return p.value
}

func (p *part[T]) close() error {
	if !p.runs {
		return nil
	}
	return p.value.Close()
}

// Main runs the tests and ends what they shared. Its result is the exit code. The plane has the given CRDs, besides those of
// the Flink operator.
func Main(m *testing.M, crds ...string) int {
	dir, err := os.MkdirTemp("", "kubetest-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	shared.dir, shared.crds = dir, crds
	code := m.Run()
	// The operator first: it would try to mend what it sees break.
	err = errors.Join(shared.flink.close(), shared.pods.close(), shared.plane.close(), os.RemoveAll(dir))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// Plane is the plane of this test run: with controllers, and with the CRDs of the Flink operator.
func Plane(t testing.TB) *kubelocal.Plane {
	t.Helper()
	return shared.plane.get(t, func(ctx context.Context) (*kubelocal.Plane, error) {
		return StartPlane(ctx, kubelocal.Options{CRDs: shared.crds, Dir: shared.dir, Log: os.Stderr})
	})
}

// StartPlane starts one like Plane, for a test that must have its own. Options are the caller's, besides controllers and the
// CRDs of the Flink operator, which it has too.
func StartPlane(ctx context.Context, o kubelocal.Options) (*kubelocal.Plane, error) {
	crds, err := kubelocal.OperatorCRDs()
	if err != nil {
		return nil, err
	}
	o.ControllerManager, o.CRDs = true, append(crds, o.CRDs...)
	return kubelocal.Start(ctx, o)
}

// Kubelet runs the pods of Flink clusters in all namespaces. Applications have the test job on their class path.
func Kubelet(t testing.TB) *kubelet.Kubelet {
	t.Helper()
	plane := Plane(t)
	return shared.pods.get(t, func(context.Context) (*kubelet.Kubelet, error) {
		return StartKubelet(kubelet.Options{Plane: plane, Dir: shared.dir, Log: os.Stderr})
	})
}

// StartKubelet starts one like Kubelet, for a test that must have its own.
func StartKubelet(o kubelet.Options) (*kubelet.Kubelet, error) {
	jar, err := testjob.Jar()
	if err != nil {
		return nil, err
	}
	o.Jars = append(o.Jars, jar)
	return kubelet.Start(o)
}

// Operator is the Flink operator for all namespaces.
func Operator(t testing.TB) *operator.Operator {
	t.Helper()
	plane := Plane(t)
	return shared.flink.get(t, func(ctx context.Context) (*operator.Operator, error) {
		return operator.Start(ctx, operator.Options{Plane: plane, Dir: shared.dir, Log: os.Stderr})
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
