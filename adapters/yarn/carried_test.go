package yarn_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"flinkscaler/adapters/flink"
	"flinkscaler/adapters/yarn"
	"flinkscaler/core"
	"flinkscaler/internal/flinksim"
)

// sized is a job in an application of which YARN tells what it has, in a queue with
// room for one container more.
type sized struct {
	*yarn.Cluster
	rm   *fakeRM
	job  core.JobRef
	held core.Requirements
}

func newSized(t *testing.T, app, nodes string) sized {
	t.Helper()
	sim, address := startSim(t, flinksim.Flink23)
	submit(t, sim, "orders")
	rm := newRM(t, running(firstID, "orders", address))
	rm.odd = func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case strings.HasSuffix(r.URL.Path, "/scheduler"):
			answerText(w, 200, "application/json", `{"scheduler":{"schedulerInfo":{"type":"capacityScheduler","queueName":"root","queuePath":"root","queues":{"queue":
				{"queuePath":"root.default","queueName":"default","state":"RUNNING","maxEffectiveCapacity":{"memory":2600,"vCores":16},"resourcesUsed":{"memory":1792,"vCores":2}}}}}}`)
		case strings.HasSuffix(r.URL.Path, "/nodes"):
			answerText(w, 200, "application/json", nodes)
		case strings.HasSuffix(r.URL.Path, "/apps/"+firstID):
			answerText(w, 200, "application/json", strings.ReplaceAll(app, "ADDRESS", address))
		default:
			return false
		}
		return true
	}
	s := sized{rm: rm, Cluster: open(t, yarn.Config{ResourceManagers: []string{rm.URL}, Timeout: 2 * time.Second, Flink: flink.Config{Timeout: time.Second}})}
	var err error
	s.job, err = s.Locate(t.Context(), named("orders"))
	must(t, err)
	s.held, err = s.Wanted(t.Context(), s.job)
	must(t, err)
	return s
}

// more are requirements of so much for every vertex.
func (s sized) more(n int) core.Requirements {
	var sizes []core.VertexSize
	for _, b := range s.held {
		sizes = append(sizes, core.VertexSize{ID: b.ID, Parallelism: n})
	}
	return s.held.Want(sizes)
}

const (
	appHead = `{"app":{"id":"` + firstID + `","user":"etl","name":"orders","queue":"root.default","state":"RUNNING","applicationType":"Apache Flink","amRPCAddress":"ADDRESS",
		"runningContainers":2,"resourceInfo":{"resourceUsagesByPartition":[{"partitionName":"","used":{"memory":1792,"vCores":2},"amUsed":{"memory":1024,"vCores":1}`
	oneHeld  = appHead + `,"pending":{"memory":0,"vCores":0}}]}}}`
	oneWaits = appHead + `,"pending":{"memory":1536,"vCores":2}}]},"resourceRequests":[{"resourceName":"*","numContainers":2}]}}`
	roomy    = `{"nodes":{"node":[{"state":"RUNNING","availMemoryMB":6400,"availableVirtualCores":14}]}}`
)

func TestFits(t *testing.T) {
	t.Parallel()
	s := newSized(t, oneHeld, roomy)
	slots, err := s.Slots(t.Context(), s.job)
	must(t, err)
	if room, err := s.Fits(t.Context(), s.job, s.held); err != nil || room != (core.Room{}) {
		t.Errorf("for what runs: %+v, %v", room, err)
	}
	room, err := s.Fits(t.Context(), s.job, s.more(slots.Total+50))
	if err != nil || !room.Short || room.Fits != 1 || !strings.Contains(room.Note, "of 768 MB and 1 core are needed and 1 fit: queue root.default may have 2600 MB") {
		t.Errorf("for much more: %+v, %v", room, err)
	}
	s.rm.set(func() {
		odd := s.rm.odd
		s.rm.odd = func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/scheduler") || strings.HasSuffix(r.URL.Path, "/nodes") || strings.HasSuffix(r.URL.Path, "/metrics") {
				answerText(w, 403, "application/json", `{"RemoteException":{"exception":"ForbiddenException","message":"no"}}`)
				return true
			}
			return odd(w, r)
		}
	})
	room, err = s.Fits(t.Context(), s.job, s.more(slots.Total+50))
	if err != nil || room.Short || !strings.Contains(room.Note, "the queues could not be read") || !strings.Contains(room.Note, "the nodes could not be read") {
		t.Errorf("what may not be read is unknown, and no error: %+v, %v", room, err)
	}
}

// TestFitsInASession: a redeploy leaves its ApplicationMaster where it is, so a queue
// that takes no application is no reason.
func TestFitsInASession(t *testing.T) {
	t.Parallel()
	s := newSized(t, oneHeld, roomy)
	s.rm.set(func() {
		odd := s.rm.odd
		s.rm.odd = func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/scheduler") {
				return odd(w, r)
			}
			answerText(w, 200, "application/json", `{"scheduler":{"schedulerInfo":{"type":"capacityScheduler","queueName":"root","queuePath":"root","queues":{"queue":
				{"queuePath":"root.default","queueName":"default","state":"STOPPED","maxEffectiveCapacity":{"memory":2600,"vCores":16},"resourcesUsed":{"memory":1792,"vCores":2}}}}}}`)
			return true
		}
	})
	for name, tt := range map[string]struct {
		target core.Target
		want   string // of the note of a room that is short, empty for room
	}{
		"an application": {named("orders"), "queue root.default is STOPPED and takes no application"},
		"a session":      {core.Target{Yarn: &core.YarnTarget{ApplicationName: "orders", JobName: "orders"}}, ""},
	} {
		job, err := s.Locate(t.Context(), tt.target)
		must(t, err)
		job.Means.Restarts = true
		room, err := s.Fits(t.Context(), job, s.held)
		if err != nil || room.Short != (tt.want != "") || !strings.Contains(room.Note, tt.want) {
			t.Errorf("%s: %+v, %v", name, room, err)
		}
	}
}

// TestCarried: requests that wait are the reason, with the numbers; nothing is ever
// outstanding before Flink, and what YARN does not tell is no error.
func TestCarried(t *testing.T) {
	t.Parallel()
	s := newSized(t, oneWaits, roomy)
	got, err := s.Carried(t.Context(), s.job, s.more(60))
	if err != nil || !got.Done || got.Reason != core.ReasonNoRoom || !strings.Contains(got.Note, "YARN holds 1 container for it and lets requests wait for 2 more (1536 MB and 2 cores)") ||
		!strings.Contains(got.Note, "queue root.default may have 2600 MB") {
		t.Errorf("%+v, %v", got, err)
	}
	if held, err := s.Holds(t.Context(), s.job); err != nil || held.Held != 1 || !held.Waits || held.What != "containers" || held.Needed < 1 {
		t.Errorf("%+v, %v", held, err)
	}
	calm := newSized(t, oneHeld, roomy)
	if got, err := calm.Carried(t.Context(), calm.job, calm.held); err != nil || !got.Done || got.Reason != "" {
		t.Errorf("nothing waits: %+v, %v", got, err)
	}
	calm.rm.Close()
	if got, err := calm.Carried(t.Context(), calm.job, calm.held); err != nil || !got.Done || got.Reason != "" {
		t.Errorf("without a ResourceManager: %+v, %v", got, err)
	}
}
