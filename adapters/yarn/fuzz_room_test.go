package yarn

import "testing"

// FuzzScheduler: whatever the scheduler says, a judgement is made within what was
// asked, and a shortage has its words.
func FuzzScheduler(f *testing.F) {
	for _, s := range []string{
		capacityBody, fairBody, string(recorded(f, "scheduler-fair")), string(recorded(f, "scheduler-fifo")), `{"scheduler":{"schedulerInfo":{"type":"fifoScheduler"}}}`, "", "null", "[]", "{}", `{"scheduler":null}`,
		`{"scheduler":{"schedulerInfo":{"queues":{"queue":{"queues":[{"queueName":"default"}]}}}}}`,
		`{"scheduler":{"schedulerInfo":{"rootQueue":{"queueName":"default","childQueues":[null,{}],"maxResources":{"memory":1e999,"vCores":"-1"},"usedResources":{"memory":-9e99}}}}}`,
	} {
		f.Add([]byte(s), "default")
		f.Add([]byte(s), "root.default")
	}
	f.Fuzz(func(t *testing.T, b []byte, queue string) {
		s, err := decodeScheduler(b)
		if err != nil {
			return
		}
		j := judgement{need: 3, fits: 3, size: resource{1000, 1}, user: "ann", anew: len(b)%2 == 0, countsCores: len(b)%3 == 0}
		j.queues(s, queue)
		if r := j.room(); r.Fits < 0 || r.Fits > 3 || r.Short && r.Note == "" || !r.Short && r.Fits != 0 {
			t.Errorf("%+v", r)
		}
	})
}

// FuzzUsage: whatever YARN says of an application and of its nodes.
func FuzzUsage(f *testing.F) {
	for _, s := range []string{
		`{"app":{"runningContainers":3,"resourceInfo":{"resourceUsagesByPartition":[{"used":{"memory":2561,"vCores":3},"amUsed":{"memory":1024,"vCores":1}}]}}}`,
		`{"app":{"resourceRequests":{"numContainers":"1e30"}}}`, `{"nodes":{"node":[{"state":"RUNNING","availMemoryMB":-5,"availableVirtualCores":1e300}]}}`, `{"nodes":null}`, "null",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if u, err := decodeUsage(b); err == nil && (u.managers < -1 || u.asked < 0 || u.taskManager != nil && u.taskManager.memory <= 0) {
			t.Errorf("%+v", u)
		}
		if all, err := decodeNodes(b); err == nil {
			j := judgement{need: 3, fits: 3, size: resource{1000, 1}}
			j.nodes(all)
			if r := j.room(); r.Fits < 0 || r.Fits > 3 {
				t.Errorf("%+v", r)
			}
		}
	})
}
