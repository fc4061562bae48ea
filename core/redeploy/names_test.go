package redeploy_test

import (
	"regexp"
	"testing"

	"flinkscaler/core"
	"flinkscaler/core/redeploy"
)

// TestIDsAreTheAttempts: the same for each repeat, another for everything else,
// and of the form that Flink takes.
func TestIDsAreTheAttempts(t *testing.T) {
	t.Parallel()
	key := core.JobKey{Cluster: "dev", Job: "orders"}
	first := redeploy.Trigger(key, "7-1", 1)
	if first != redeploy.Trigger(key, "7-1", 1) {
		t.Error("a repeat has another id")
	}
	seen := map[string]string{first: "first"}
	for name, id := range map[string]string{
		"next attempt": redeploy.Trigger(key, "7-1", 2), "next decision": redeploy.Trigger(key, "8-1", 1),
		"other job":     redeploy.Trigger(core.JobKey{Cluster: "dev", Job: "other"}, "7-1", 1),
		"other cluster": redeploy.Trigger(core.JobKey{Cluster: "prod", Job: "orders"}, "7-1", 1),
		"words moved":   redeploy.Trigger(core.JobKey{Cluster: "devo", Job: "rders"}, "7-1", 1),
		"the job":       redeploy.JobID(first, 0), "the job after": redeploy.JobID(first, 1),
	} {
		if other := seen[id]; other != "" {
			t.Errorf("%s has the id of %s", name, other)
		}
		seen[id] = name
		if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(id) {
			t.Errorf("%s: Flink takes no id %q", name, id)
		}
	}
}

// TestOneDirectoryPerStop, under the base, with a name that any storage takes.
func TestOneDirectoryPerStop(t *testing.T) {
	t.Parallel()
	key := core.JobKey{Cluster: "dev", Job: "or/../ders é"}
	trigger := redeploy.Trigger(key, "7-1", 1)
	got := redeploy.Directory("file:///sp/", key, "7-1", trigger)
	folder := redeploy.Folder("file:///sp/", key)
	if want := folder + "/7-1-" + trigger[:8]; got != want {
		t.Errorf("directory %s, want %s", got, want)
	}
	if !regexp.MustCompile(`^file:///sp/or____ders__-[0-9a-f]{16}$`).MatchString(folder) {
		t.Errorf("folder %s", folder)
	}
	if got == redeploy.Directory("file:///sp", key, "7-1", redeploy.Trigger(key, "7-1", 2)) {
		t.Error("two attempts share a directory")
	}
}

// TestOneFolderPerJob: what looks alike as a path is of another job all the same.
func TestOneFolderPerJob(t *testing.T) {
	t.Parallel()
	seen := map[string]core.JobKey{}
	for _, key := range []core.JobKey{
		{Cluster: "dev", Job: "a"}, {Cluster: "dev", Job: "a-1"}, {Cluster: "dev", Job: "a_b"}, {Cluster: "dev", Job: "a b"}, {Cluster: "dev", Job: "a/b"},
		{Cluster: "prod", Job: "a"}, {Cluster: "de", Job: "va"},
	} {
		folder := redeploy.Folder("file:///sp", key)
		if other, taken := seen[folder]; taken {
			t.Errorf("%v and %v share %s", key, other, folder)
		}
		seen[folder] = key
	}
}

func TestSamePath(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"file:/sp/a", "file:///sp/a", true},
		{"/sp/a/", "file:/sp/a", true},
		{"file:///sp/a", "file:///sp/b", false},
		{"hdfs://nn/sp/a", "file:///sp/a", false},
		{"hdfs://nn/sp/a", "hdfs://nn/sp/a/", true},
		{"hdfs://nn/sp/a", "hdfs://other/sp/a", false},
		{"", "file:///sp/a", false},
	} {
		if got := redeploy.SamePath(tt.a, tt.b); got != tt.want {
			t.Errorf("%q and %q: same is %v", tt.a, tt.b, got)
		}
	}
}

func TestOwnCheckpoint(t *testing.T) {
	t.Parallel()
	const id = "0000000000000000000000000000000a"
	if !redeploy.OwnCheckpoint("file:/cp/"+id+"/chk-7", id) || redeploy.OwnCheckpoint("file:/cp/other/chk-7", id) || redeploy.OwnCheckpoint("file:/sp/"+id+"/savepoint-1", id) {
		t.Error("whose checkpoint it is, is not seen")
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason string
		by     core.ByHand
		want   string
	}{
		"session": {"of Flink itself", core.ByHand{}, "flink run -d -s file:/sp/a -Dpipeline.jobvertex-parallelism-overrides=aa:1,bb:3 <jar> <arguments>"},
		"as the platform": {"another job would come of the first", core.ByHand{Command: "flink run -t yarn-application -d", Options: "-Dyarn.tags=a"},
			"flink run -t yarn-application -d -s file:/sp/a -Dpipeline.jobvertex-parallelism-overrides=aa:1,bb:3 -Dyarn.tags=a <jar> <arguments>"},
	} {
		if got := redeploy.Command(tt.by, "file:/sp/a", []core.VertexSize{{ID: "aa", Parallelism: 1}, {ID: "bb", Parallelism: 3}}); got != tt.want {
			t.Errorf("%s: %s: command %q, want %q", name, tt.reason, got, tt.want)
		}
	}
}

// TestCheckpointsOfAnotherJob are beside those of the one before, or nobody knows.
func TestCheckpointsOfAnotherJob(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ reason, seen, of, want string }{
		"own":         {"one folder for each id", "hdfs://ns/cp/old/chk-7", "old", "hdfs://ns/cp/new"},
		"a savepoint": {"it was restored from that, and took none", "hdfs://ns/sp/savepoint-1", "old", ""},
		"of another":  {"what that one did says nothing", "hdfs://ns/cp/older/chk-7", "old", ""},
		"no folders":  {"state.checkpoints.create-subdir: false", "hdfs://ns/cp/chk-7", "old", ""},
		"none":        {"nothing was seen", "", "old", ""},
		"no id":       {"it would be found in any path", "hdfs://ns/cp//chk-7", "", ""},
	} {
		if got := redeploy.Checkpoints(tt.seen, tt.of, "new"); got != tt.want {
			t.Errorf("%s: %s: %q, want %q", name, tt.reason, got, tt.want)
		}
	}
}

func TestParent(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]string{
		"hdfs://ns/cp/a/chk-1": "hdfs://ns/cp/a", "hdfs:/cp/a/chk-1/": "hdfs:/cp/a", "file:///cp/a/chk-1": "file:///cp/a", "/cp/chk-1": "/cp", "chk-1": "",
	} {
		if got := redeploy.Parent(p); got != want {
			t.Errorf("%s is in %q, want %q", p, got, want)
		}
	}
}
