package proxy

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

const jobID = "0123456789abcdef0123456789abcdef"

// fakeFlink holds what was last written.
type fakeFlink struct {
	mu   sync.Mutex
	held string
	puts int
}

func (f *fakeFlink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Method != http.MethodPut {
		_, _ = io.WriteString(w, f.held)
		return
	}
	b, _ := io.ReadAll(r.Body)
	f.held = string(b)
	f.puts++
	_, _ = io.WriteString(w, "{}")
}

func (f *fakeFlink) state() (string, int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.held, f.puts
}

// put sends a write and says what came: "<status> <body>", or "no answer".
func put(ctx context.Context, t *testing.T, p *Proxy, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, p.URL()+"/v1/jobs/"+jobID+"/resource-requirements", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "no answer"
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return "half an answer"
	}
	return resp.Status[:3] + " " + string(b)
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		fault  Fault
		want   string // the start of what the worker gets
		puts   int    // what Flink sees
		status int    // what is recorded
	}{
		"none":           {"a request passes as it is", Fault{}, "200 {}", 1, 200},
		"lost":           {"Flink never sees it, the worker gets nothing", Fault{Lost: true}, "no answer", 0, 0},
		"taken, dropped": {"Flink takes it, the worker gets nothing", Fault{Answer: Dropped}, "no answer", 1, 200},
		"lost, 503":      {"refused on the way", Fault{Lost: true, Answer: Unavailable}, "503", 0, 0},
		"taken, 409":     {"Flink took it although the answer says no", Fault{Answer: Conflict}, "409", 1, 200},
		"page":           {"200 of somebody else", Fault{Lost: true, Answer: Page}, "200 <!DOCTYPE", 0, 0},
		"half":           {"the body ends early", Fault{Answer: Half}, "half", 1, 200},
		"twice":          {"the network repeats it", Fault{Twice: true}, "200 {}", 2, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fakeFlink{held: "old"}
			upstream := httptest.NewServer(f)
			defer upstream.Close()
			p := New(func() string { return upstream.URL })
			rule := p.Arm(Call.Writes, tt.fault, 1)
			if got := put(t.Context(), t, p, "new"); !strings.HasPrefix(got, tt.want) {
				t.Errorf("%s: the worker got %q, want %q", tt.reason, got, tt.want)
			}
			<-rule.Fired()
			p.Close() // waits for what is sent again
			if _, puts := f.state(); puts != tt.puts {
				t.Errorf("%s: Flink saw %d writes, want %d", tt.reason, puts, tt.puts)
			}
			writes := p.Writes()
			if len(writes) == 0 || writes[0].Status != tt.status || writes[0].Lost != tt.fault.Lost || writes[0].JobID != jobID || writes[0].Body != "new" {
				t.Fatalf("%s: recorded %+v", tt.reason, writes)
			}
			if !writes[0].Lost && writes[0].Before != "old" {
				t.Errorf("%s: in force before: %q", tt.reason, writes[0].Before)
			}
			if tt.fault.Twice && (len(writes) != 2 || !writes[1].Repeat || writes[1].Before != "new") {
				t.Errorf("%s: recorded %+v", tt.reason, writes)
			}
		})
	}
}

// TestAWriteOutlivesItsSender: what a killed worker has sent still reaches Flink.
func TestAWriteOutlivesItsSender(t *testing.T) {
	t.Parallel()
	f := &fakeFlink{held: "old"}
	upstream := httptest.NewServer(f)
	defer upstream.Close()
	p := New(func() string { return upstream.URL })
	defer p.Close()
	ctx, cancel := context.WithCancel(t.Context())
	gone, done := make(chan struct{}), make(chan struct{})
	p.OnWrite(cancel, func() { <-gone; close(done) })
	if got := put(ctx, t, p, "new"); got != "no answer" {
		t.Errorf("got %q", got)
	}
	close(gone)
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the write did not reach Flink")
	}
	if held, _ := f.state(); held != "new" {
		t.Errorf("Flink holds %q", held)
	}
}

// TestRulesAreForTheirRequests: the first rule that matches is taken, so many
// times; a dead Flink is no answer.
func TestRulesAreForTheirRequests(t *testing.T) {
	t.Parallel()
	f := &fakeFlink{held: "old"}
	upstream := httptest.NewServer(f)
	p := New(func() string { return upstream.URL })
	defer p.Close()
	other := p.Arm(Call.Inspects, Fault{Answer: Dropped}, 1)
	gone := p.Arm(Call.Writes, Fault{Answer: Dropped}, 1)
	p.Disarm(gone)
	p.Arm(func(c Call) bool { return c.Writes() && c.JobID == jobID }, Fault{Lost: true, Answer: Unavailable}, 2)
	for i, want := range []string{"503", "503", "200"} {
		if got := put(t.Context(), t, p, "new"); !strings.HasPrefix(got, want) {
			t.Errorf("write %d got %q, want %s", i, got, want)
		}
	}
	if n := len(p.Taken()); n != 1 {
		t.Errorf("%d writes taken", n)
	}
	select {
	case <-other.Fired():
		t.Error("a rule for reads fired at a write")
	default:
	}
	upstream.Close()
	if got := put(t.Context(), t, p, "more"); got != "no answer" {
		t.Errorf("of a dead Flink came %q", got)
	}
}
