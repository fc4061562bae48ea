package yarn

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"flinkscaler/core"
)

// Two queues of a capacity scheduler as Hadoop 3 shows them, %s for what the queue
// "default" says besides.
const capacityBody = `{"scheduler":{"schedulerInfo":{"type":"capacityScheduler","queueName":"root","queuePath":"root",
 "capacities":{"queueCapacitiesByPartition":[{"partitionName":"","effectiveMaxResource":{"memory":8192,"vCores":16}},{"partitionName":"gpu","effectiveMaxResource":{"memory":4096,"vCores":8}}]},
 "queues":{"queue":[
  {"type":"capacitySchedulerLeafQueueInfo","queuePath":"root.small","queueName":"small","state":"RUNNING",
   "resourcesUsed":{"memory":1000,"vCores":1},"maxEffectiveCapacity":{"memory":3276,"vCores":6},"minEffectiveCapacity":{"memory":2457,"vCores":4},"maximumAllocation":{"memory":4096,"vCores":8},
   "AMResourceLimit":{"memory":3200,"vCores":6},"usedAMResource":{"memory":1000,"vCores":1},"users":{},"preemptionDisabled":true},
  {"type":"capacitySchedulerLeafQueueInfo","queuePath":"root.default","queueName":"default","state":"RUNNING",
   "resourcesUsed":{"memory":3000,"vCores":4},"maxEffectiveCapacity":{"memory":8192,"vCores":16},"minEffectiveCapacity":{"memory":5734,"vCores":11},"maximumAllocation":{"memory":4096,"vCores":8},
   "resources":{"resourceUsagesByPartition":[{"partitionName":"","used":{"memory":3000,"vCores":4}},{"partitionName":"gpu","used":{"memory":3000,"vCores":4}}]},
   "capacities":{"queueCapacitiesByPartition":[{"partitionName":"gpu","effectiveMaxResource":{"memory":4096,"vCores":8}}]},
   "AMResourceLimit":{"memory":8192,"vCores":16},"usedAMResource":{"memory":1024,"vCores":1},
   "userLimitFactor":0.5,"users":{"user":{"username":"ann","userResourceLimit":{"memory":3128,"vCores":16},"resourcesUsed":{"memory":3000,"vCores":4}}},"preemptionDisabled":true}
 ]}}}}`

const fairBody = `{"scheduler":{"schedulerInfo":{"type":"fairScheduler","rootQueue":{"type":"fairSchedulerQueueInfo","queueName":"root",
 "maxResources":{"memory":8192,"vCores":16},"usedResources":{"memory":4000,"vCores":4},"fairResources":{"memory":8192,"vCores":16},"clusterResources":{"memory":8192,"vCores":16},
 "childQueues":{"queue":{"type":"fairSchedulerLeafQueueInfo","queueName":"root.default","maxResources":{"memory":6000,"vCores":5},"usedResources":{"memory":4000,"vCores":4},
  "fairResources":{"memory":3000,"vCores":4},"amMaxResources":{"memory":1000,"vCores":4},"amUsedResources":{"memory":1024,"vCores":1},"maxContainerAllocation":{"memory":4096,"vCores":8}}}}}}}`

func TestQueues(t *testing.T) {
	t.Parallel()
	one := resource{1000, 1}
	for name, tt := range map[string]struct {
		reason, body, queue string
		ask                 judgement
		short, grows        bool
		fits                int
		note                string
	}{
		"fits":         {"nothing is in the way", capacityBody, "root.default", judgement{size: one, need: 4}, false, false, 0, ""},
		"by its name":  {"up to Hadoop 3.3 applications name the leaf alone", capacityBody, "small", judgement{size: one, need: 3}, true, false, 2, "queue root.small may have 3276 MB and 6 cores and uses 1000 MB"},
		"root is full": {"queues above count with all that their children use", capacityBody, "root.default", judgement{size: one, need: 5, partition: "gpu"}, true, false, 1, "queue root may have 4096 MB and 8 cores of partition gpu"},
		"the user":     {"half of what the queue is entitled to is used up; one may come beyond", capacityBody, "root.default", judgement{size: one, need: 4, user: "ann"}, true, false, 1, "user ann may have 2867 MB"},
		"the user, elastic": {"the limit that YARN shows goes up with what is used, and forbids nothing", strings.Replace(capacityBody, `"userLimitFactor":0.5`, `"userLimitFactor":10`, 1), "root.default",
			judgement{size: one, need: 4, user: "ann"}, false, false, 0, ""},
		"the user, unlimited": {"so it is said", strings.Replace(capacityBody, `"userLimitFactor":0.5`, `"userLimitFactor":-1`, 1), "root.default", judgement{size: one, need: 4, user: "ann"}, false, false, 0, ""},
		"another user":        {"the limit of others is none", capacityBody, "root.default", judgement{size: one, need: 4, user: "bob"}, false, false, 0, ""},
		"too large":           {"no container of that size is ever given", capacityBody, "root.default", judgement{size: resource{5000, 1}, need: 1}, true, false, 0, "gives containers of at most 4096 MB"},
		"cores, sure":         {"they count", capacityBody, "root.small", judgement{size: resource{100, 2}, need: 5, countsCores: true}, true, false, 2, "uses 1000 MB and 1 core"},
		"cores, not sure":     {"YARN may count memory alone", capacityBody, "root.small", judgement{size: one, need: 2}, false, false, 0, ""},
		"cores, told":         {"that is said", capacityBody, "root.small", judgement{size: resource{100, 1}, need: 6}, false, false, 0, "by virtual cores queue root.small has room for 5"},
		"no such queue":       {"unknown is no shortage", capacityBody, "gone", judgement{size: one, need: 99}, false, false, 0, "does not show the queue gone"},
		"fair":                {"the same of the fair scheduler, one child without brackets", fairBody, "root.default", judgement{size: one, need: 3, countsCores: true}, true, false, 1, "queue root.default may have 6000 MB and 5 cores and uses 4000 MB and 4 cores"},
		"fair, new master":    {"ApplicationMasters have too much already", fairBody, "root.default", judgement{size: one, anew: true, countsCores: true}, true, false, 0, "YARN would not let it start again: the ApplicationMasters in queue root.default have 1024 MB"},
		"fair, in place":      {"no new one is needed", fairBody, "root.default", judgement{size: one, countsCores: true}, false, false, 0, ""},
		"stopped, anew":       {"a queue that is stopped takes no application", strings.Replace(capacityBody, `"state":"RUNNING"`, `"state":"STOPPED"`, 1), "small", judgement{size: one, anew: true}, true, false, 0, "root.small is STOPPED"},
		"stopped, in place": {"what is in it goes on", strings.Replace(capacityBody, `"state":"RUNNING"`, `"state":"STOPPED"`, 1), "small",
			judgement{size: one, need: 1}, false, false, 0, ""},
		"fifo":           {"one queue for all", `{"scheduler":{"schedulerInfo":{"type":"fifoScheduler","qstate":"RUNNING","capacity":1.0}}}`, "default", judgement{size: one, need: 9}, false, false, 0, ""},
		"an old version": {"it tells shares alone", `{"scheduler":{"schedulerInfo":{"type":"capacityScheduler","queueName":"root","queues":{"queue":[{"queueName":"default","absoluteMaxCapacity":100.0}]}}}}`, "default", judgement{size: one, need: 9}, false, false, 0, "does not tell how much queue root.default may have"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := decodeScheduler([]byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			j := tt.ask
			j.fits = j.need
			j.queues(s, tt.queue)
			got := j.room()
			if got.Short != tt.short || got.Fits != tt.fits || got.MayGrow != tt.grows || tt.note != "" && !strings.Contains(got.Note, tt.note) || tt.note == "" && got.Note != "" {
				t.Errorf("%s: got %+v", tt.reason, got)
			}
		})
	}
}

// TestRecordedSchedulers: bodies of real ones, with a job of two containers.
func TestRecordedSchedulers(t *testing.T) {
	t.Parallel()
	fair, err := decodeScheduler(recorded(t, "scheduler-fair"))
	path := fair.find("root.default")
	if err != nil || fair.kind != fairScheduler || len(path) != 2 {
		t.Fatalf("%+v, %v", fair, err)
	}
	q := path[1]
	if p := q.parts[""]; *p.most != (resource{8192, 16}) || *p.used != (resource{2048, 2}) || *q.largest != (resource{4096, 8}) || *q.amLimit != (resource{4096, 8}) || *q.amUsed != (resource{1024, 1}) {
		t.Errorf("%+v", q)
	}
	if fifo, err := decodeScheduler(recorded(t, "scheduler-fifo")); err != nil || fifo.kind != fifoScheduler || fifo.root != nil {
		t.Errorf("%+v, %v", fifo, err)
	}
	// The fair scheduler's applications do not tell what their master has.
	if u, err := decodeUsage(recorded(t, "app-fair")); err != nil || u.managers != 1 || u.taskManager != nil || u.waits() {
		t.Errorf("%+v, %v", u, err)
	}
}

func recorded(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "3.4.2", name+".200.json"))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestNodes(t *testing.T) {
	t.Parallel()
	const body = `{"nodes":{"node":[
	 {"state":"RUNNING","availMemoryMB":2500,"availableVirtualCores":1},
	 {"state":"RUNNING","availMemoryMB":1500,"availableVirtualCores":8},
	 {"state":"LOST","availMemoryMB":90000,"availableVirtualCores":90},
	 {"state":"RUNNING","availMemoryMB":90000,"availableVirtualCores":90,"nodeLabels":["gpu"]}]}}`
	for name, tt := range map[string]struct {
		reason, body string
		ask          judgement
		short        bool
		fits         int
		note         string
	}{
		"whole containers": {"2500 and 1500 MB are room for three of 1000, not for four", strings.Replace(body, `"nodeLabels":["gpu"]`, `"nodeLabels":"x"`, 1), judgement{size: resource{1000, 1}, need: 4, partition: ""}, false, 0, "may lend"},
		"no labels":        {"nothing may be lent", body[:strings.LastIndex(body, ",\n")] + "]}}", judgement{size: resource{1000, 1}, need: 4}, true, 3, "room for 3"},
		"with cores":       {"they count", body[:strings.LastIndex(body, ",\n")] + "]}}", judgement{size: resource{1000, 1}, need: 4, countsCores: true}, true, 2, "room for 2"},
		"of a partition":   {"its nodes alone", body, judgement{size: resource{50000, 1}, need: 2, partition: "gpu"}, true, 1, "room for 1"},
		"one node":         {"without brackets", `{"nodes":{"node":{"state":"RUNNING","availMemoryMB":"700","availableVirtualCores":1}}}`, judgement{size: resource{1000, 1}, need: 1}, true, 0, "room for 0"},
		"fits":             {"all do", body, judgement{size: resource{1000, 1}, need: 3}, false, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes, err := decodeNodes([]byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			j := tt.ask
			j.fits = j.need
			j.nodes(nodes)
			if got := j.room(); got.Short != tt.short || got.Fits != tt.fits || !strings.Contains(got.Note, tt.note) {
				t.Errorf("%s: got %+v", tt.reason, got)
			}
		})
	}
}

// TestPreemption: nodes that are full are a wait where YARN takes back what the queue
// is entitled to, and only then.
func TestPreemption(t *testing.T) {
	t.Parallel()
	on := strings.ReplaceAll(capacityBody, `"preemptionDisabled":true`, `"preemptionDisabled":false`)
	for name, tt := range map[string]struct {
		reason, body string
		need         int
		size         int64
		grows        bool
	}{
		"off":        {"others keep what they have", capacityBody, 2, 1000, false},
		"on":         {"the queue has less than it is entitled to", on, 2, 1000, true},
		"its limit":  {"nothing is taken back for more than the queue may have", on, 3, 1000, false},
		"too large":  {"free room would not help", on, 1, 5000, false},
		"has enough": {"it has what it is entitled to", strings.Replace(on, `"minEffectiveCapacity":{"memory":2457`, `"minEffectiveCapacity":{"memory":1000`, 1), 2, 1000, false},
	} {
		s, err := decodeScheduler([]byte(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		j := judgement{size: resource{tt.size, 1}, need: tt.need, fits: tt.need}
		j.queues(s, "small")
		j.nodes([]node{{running: true, free: resource{500, 8}}})
		if got := j.room(); !got.Short || got.MayGrow != tt.grows {
			t.Errorf("%s: %s: got %+v", name, tt.reason, got)
		}
	}
}

// TestAutoscaledNodes: what is full now may be waited for, unless no node would help.
func TestAutoscaledNodes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		ask    judgement
		grows  bool
		note   string
	}{
		"in place":  {"nodes come, and the shares of the queue grow with them", judgement{size: resource{1000, 1}, need: 3, added: true}, true, "nodes are added where containers wait"},
		"too large": {"a container of that size is never given", judgement{size: resource{5000, 1}, need: 1, added: true}, false, "gives containers of at most"},
		"not said":  {"what is full is full", judgement{size: resource{1000, 1}, need: 3}, false, "the nodes have room for 0"},
	} {
		s, err := decodeScheduler([]byte(capacityBody))
		if err != nil {
			t.Fatal(err)
		}
		j := tt.ask
		j.fits = j.need
		j.queues(s, "small")
		j.nodes([]node{{running: true, free: resource{500, 8}}})
		if got := j.room(); !got.Short || got.MayGrow != tt.grows || !strings.Contains(got.Note, tt.note) {
			t.Errorf("%s: %s: got %+v", name, tt.reason, got)
		}
	}
}

func TestContainerSize(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason, app string
		options     map[string]string
		want        resource
	}{
		"of those there": {"two of 768 MB beside a master of 1024", `{"app":{"runningContainers":3,"resourceInfo":{"resourceUsagesByPartition":[{"partitionName":"","used":{"memory":2560,"vCores":3},"amUsed":{"memory":1024,"vCores":1}}]}}}`, nil, resource{768, 1}},
		"one partition":  {"an object for a list", `{"app":{"runningContainers":2,"resourceInfo":{"resourceUsagesByPartition":{"partitionName":"","used":{"memory":1792,"vCores":3},"amUsed":{"memory":1024,"vCores":1}}}}}`, nil, resource{768, 2}},
		"unequal":        {"what Flink asks for counts", `{"app":{"runningContainers":3,"resourceInfo":{"resourceUsagesByPartition":[{"used":{"memory":2561,"vCores":3},"amUsed":{"memory":1024,"vCores":1}}]}}}`, map[string]string{optProcess: "1 gb"}, resource{1024, 4}},
		"none there":     {"a session without TaskManagers", `{"app":{"runningContainers":1,"resourceInfo":{"resourceUsagesByPartition":[{"used":{"memory":1024,"vCores":1},"amUsed":{"memory":1024,"vCores":1}}]}}}`, map[string]string{optProcess: "1500m", optCores: "2"}, resource{1500, 2}},
		"old version":    {"it does not tell the master's part", `{"app":{"runningContainers":3,"allocatedMB":2560}}`, map[string]string{optProcess: "768m", optCPU: "1.5"}, resource{768, 1}},
		"nothing known":  {"no guess", `{"app":{"runningContainers":3,"allocatedMB":2560}}`, nil, resource{}},
	} {
		u, err := decodeUsage([]byte(tt.app))
		if err != nil {
			t.Fatal(err)
		}
		if got := containerSize(u, tt.options, 4); got != tt.want {
			t.Errorf("%s: %s: got %s, want %s", name, tt.reason, got, tt.want)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	const body = `{"app":{"runningContainers":2,"resourceRequests":[
	 {"resourceName":"*","numContainers":3,"capability":{"memory":768,"vCores":1}},{"resourceName":"/rack","numContainers":3,"capability":{"memory":768,"vCores":1}},
	 {"resourceName":"*","numContainers":0}],"resourceInfo":{"resourceUsagesByPartition":[{"partitionName":"","used":{"memory":1792,"vCores":2},"amUsed":{"memory":1024,"vCores":1},"pending":{"memory":2304,"vCores":3}}]}}}`
	u, err := decodeUsage([]byte(body))
	if err != nil || u.managers != 1 || u.asked != 3 || u.pending != (resource{2304, 3}) || !u.waits() {
		t.Errorf("got %+v, %v", u, err)
	}
	if ended, err := decodeUsage([]byte(`{"app":{"runningContainers":-1,"allocatedMB":-1}}`)); err != nil || ended.managers != -1 || ended.waits() {
		t.Errorf("of an application that has ended: %+v, %v", ended, err)
	}
	for _, b := range []string{`{}`, `{"app":null}`, `<html>`} {
		if u, err := decodeUsage([]byte(b)); err == nil {
			t.Errorf("%s is read as %+v", b, u)
		}
	}
}

func TestUppers(t *testing.T) {
	t.Parallel()
	got := uppers(core.Requirements{{ID: "a", Lower: 1, Upper: 4}})
	if len(got) != 1 || got[0] != (core.VertexSize{ID: "a", Parallelism: 4}) {
		t.Errorf("got %v", got)
	}
	for _, tt := range [][3]int{{0, 2, 0}, {1, 2, 1}, {2, 2, 1}, {3, 2, 2}, {-3, 2, -1}} {
		if got := ceil(tt[0], tt[1]); got != tt[2] {
			t.Errorf("ceil(%d, %d) = %d", tt[0], tt[1], got)
		}
	}
}
