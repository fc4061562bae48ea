package kubesim

import "testing"

func TestKindsOfUpdates(t *testing.T) {
	t.Parallel()
	const jobCluster = `{"job":{"parallelism":2},"taskManager":{"replicas":2,"resources":{"cpu":"1"}},"image":{"name":"a"}}`
	tests := map[string]struct {
		reason        string
		before, after string
		want          update
	}{
		"nothing":  {"what is not part of a revision is left out before", jobCluster, jobCluster, nothing},
		"replicas": {"a change of size alone leaves the job as it is", jobCluster, `{"job":{"parallelism":2},"taskManager":{"replicas":3,"resources":{"cpu":"1"}},"image":{"name":"a"}}`, scaleUpdate},
		"replicas and more of taskManager": {
			"only the replicas are looked at: this gets no savepoint either", jobCluster,
			`{"job":{"parallelism":2},"taskManager":{"replicas":3,"resources":{"cpu":"2"}},"image":{"name":"a"}}`, scaleUpdate,
		},
		"taskManager without replicas": {"then it is a full one", jobCluster, `{"job":{"parallelism":2},"taskManager":{"replicas":2,"resources":{"cpu":"2"}},"image":{"name":"a"}}`, fullUpdate},
		"replicas and parallelism":     {"both in one patch: with a savepoint", jobCluster, `{"job":{"parallelism":3},"taskManager":{"replicas":3,"resources":{"cpu":"1"}},"image":{"name":"a"}}`, fullUpdate},
		"session":                      {"without a job there is no change of size alone", `{"taskManager":{"replicas":2}}`, `{"taskManager":{"replicas":3}}`, fullUpdate},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := updateBetween(decode(t, tt.before), decode(t, tt.after)); got != tt.want {
				t.Errorf("%s: %d, want %d", tt.reason, got, tt.want)
			}
		})
	}
}

func TestRevisionsNameTheSpec(t *testing.T) {
	t.Parallel()
	a := newRevision("c", 1, revisable(decode(t, `{"job":{"parallelism":2,"cancelRequested":true},"x":1}`)))
	b := newRevision("c", 1, revisable(decode(t, `{"x":1,"job":{"parallelism":2,"savepointGeneration":3}}`)))
	c := newRevision("c", 2, revisable(decode(t, `{"x":1,"job":{"parallelism":3}}`)))
	if a.String() != b.String() {
		t.Errorf("the same but for what makes no revision: %s and %s", a, b)
	}
	if a.name == c.name || a.hash() == c.hash() || c.String() != "c-"+c.hash()+"-2" {
		t.Errorf("another spec: %s and %s", a, c)
	}
}
