package hdfs_test

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"flinkscaler/adapters/hdfs"
	"flinkscaler/core"
)

// TestWhatIsNeverRemoved: a place that is too much to lose, or is spelled in a way that
// hides which it is, is refused before a NameNode is asked.
func TestWhatIsNeverRemoved(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 100)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			asked <- struct{}{}
			_ = c.Close()
		}
	}()
	s, err := hdfs.New(hdfs.Config{Nameservices: map[string][]string{"ns": {l.Addr().String()}}, User: "etl", Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		reason string
		folder string
		err    error
		words  string
		asked  bool
	}{
		"the top":           {"all there is", "hdfs://ns/", core.ErrRefused, "too near to the top", false},
		"nothing":           {"it would be the top", "hdfs://ns", core.ErrRefused, "too near to the top", false},
		"slashes":           {"they add no depth", "hdfs://ns///flink//", core.ErrRefused, "too near to the top", false},
		"all of Flink's":    {"somebody else's too", "hdfs://ns/flink", core.ErrRefused, "too near to the top", false},
		"up again":          {"where it ends is not seen at once", "hdfs://ns/flink/staging/../savepoints", core.ErrRefused, "has ..", false},
		"up to the top":     {"whatever the depth", "hdfs://ns/flink/staging/a/../../..", core.ErrRefused, "has ..", false},
		"another service":   {"it is not known", "hdfs://other/flink/staging/a", core.ErrRefused, "is not one of the nameservices", false},
		"another storage":   {"it is not HDFS", "s3://bucket/flink/staging/a", core.ErrRefused, "no URL of HDFS", false},
		"this machine":      {"nor that", "/flink/staging/a", core.ErrRefused, "no URL of HDFS", false},
		"dots in a name":    {"they are a name", "hdfs://ns/flink/staging..a", core.ErrUnreachable, "no NameNode of ns answers", true},
		"of a submission":   {"that is asked for", "hdfs://ns/flink/staging/0a", core.ErrUnreachable, "no NameNode of ns answers", true},
		"without a service": {"there is only one", "hdfs:///flink/staging/0a", core.ErrUnreachable, "no NameNode of ns answers", true},
	} {
		err := s.Unstage(t.Context(), tt.folder)
		var op *core.OpError
		if !errors.Is(err, tt.err) || !errors.As(err, &op) || op.Subject != tt.folder || !strings.Contains(err.Error(), tt.words) {
			t.Errorf("%s: %s: %v, want %v: %s", name, tt.reason, err, tt.err, tt.words)
		}
		got := len(asked) > 0
		for len(asked) > 0 {
			<-asked
		}
		if got != tt.asked {
			t.Errorf("%s: %s: a NameNode was asked: %v", name, tt.reason, got)
		}
	}
	if err := s.Exists(t.Context(), "file:///jobs/orders.jar"); !errors.Is(err, core.ErrRefused) {
		t.Errorf("a jar of another storage: %v", err)
	}
	if err := s.Exists(t.Context(), "hdfs://ns/jobs/orders.jar"); !errors.Is(err, core.ErrUnreachable) {
		t.Errorf("a jar while nobody answers: %v", err)
	}
}
