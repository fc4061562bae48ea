package connecttest

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"

	"go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
)

// Server is a Temporal server without work. Its fields are set before Start.
type Server struct {
	workflowservice.UnimplementedWorkflowServiceServer

	// Namespaces it has.
	Namespaces []string
	// HoldShutdown, unless nil, keeps a worker's farewell waiting until it is
	// closed.
	HoldShutdown chan struct{}

	mu     sync.Mutex
	polled []string
	auth   []string
	grpc   *grpc.Server
}

// Start serves on a free port of loopback until the test ends, and gives the
// address.
func (s *Server) Start(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Serve(t, l)
	return l.Addr().String()
}

// Serve serves on a listener until the test ends.
func (s *Server) Serve(t testing.TB, l net.Listener) {
	t.Helper()
	s.grpc = grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(s.grpc, s)
	check := health.NewServer()
	check.SetServingStatus("temporal.api.workflowservice.v1.WorkflowService", grpc_health_v1.HealthCheckResponse_SERVING)
	grpc_health_v1.RegisterHealthServer(s.grpc, check)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.grpc.Serve(l)
	}()
	t.Cleanup(func() {
		s.Stop()
		<-done
	})
}

// Stop ends it at once, as a crash would.
func (s *Server) Stop() { s.grpc.Stop() }

// Polled lists the task queues that workers asked for work on, sorted.
func (s *Server) Polled() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.polled)
}

// Authorizations lists the different authorization headers that came.
func (s *Server) Authorizations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.auth)
}

// GetSystemInfo is the first call of a client.
func (s *Server) GetSystemInfo(ctx context.Context, _ *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	md, _ := metadata.FromIncomingContext(ctx)
	s.auth = insert(s.auth, md.Get("authorization")...)
	return &workflowservice.GetSystemInfoResponse{ServerVersion: "0.0.0-test", Capabilities: &workflowservice.GetSystemInfoResponse_Capabilities{}}, nil
}

// DescribeNamespace knows the namespaces of the server alone.
func (s *Server) DescribeNamespace(_ context.Context, in *workflowservice.DescribeNamespaceRequest) (*workflowservice.DescribeNamespaceResponse, error) {
	if !slices.Contains(s.Namespaces, in.GetNamespace()) {
		return nil, serviceerror.ToStatus(serviceerror.NewNamespaceNotFound(in.GetNamespace())).Err()
	}
	return &workflowservice.DescribeNamespaceResponse{NamespaceInfo: &namespace.NamespaceInfo{Name: in.GetNamespace()}}, nil
}

// PollWorkflowTaskQueue waits: there is no work.
func (s *Server) PollWorkflowTaskQueue(ctx context.Context, in *workflowservice.PollWorkflowTaskQueueRequest) (*workflowservice.PollWorkflowTaskQueueResponse, error) {
	s.wait(ctx, in.GetTaskQueue().GetName())
	return &workflowservice.PollWorkflowTaskQueueResponse{}, nil
}

// PollActivityTaskQueue waits: there is no work.
func (s *Server) PollActivityTaskQueue(ctx context.Context, in *workflowservice.PollActivityTaskQueueRequest) (*workflowservice.PollActivityTaskQueueResponse, error) {
	s.wait(ctx, in.GetTaskQueue().GetName())
	return &workflowservice.PollActivityTaskQueueResponse{}, nil
}

// ShutdownWorker takes a worker's farewell.
func (s *Server) ShutdownWorker(ctx context.Context, _ *workflowservice.ShutdownWorkerRequest) (*workflowservice.ShutdownWorkerResponse, error) {
	if s.HoldShutdown != nil {
		select {
		case <-s.HoldShutdown:
		case <-ctx.Done():
		}
	}
	return &workflowservice.ShutdownWorkerResponse{}, nil
}

func (s *Server) wait(ctx context.Context, queue string) {
	s.mu.Lock()
	s.polled = insert(s.polled, queue)
	s.mu.Unlock()
	<-ctx.Done()
}

func insert(list []string, words ...string) []string {
	list = append(list, words...)
	slices.Sort(list)
	return slices.Compact(list)
}
