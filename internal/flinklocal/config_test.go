package flinklocal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/internal/toolcache"
)

func testLayout() layout {
	return layout{dir: "/c", rest: []int{1001}, rpc: 1002, zookeeper: 1003, zookeeperPeer: [2]int{1004, 1005}}
}

func configFor(t *testing.T, options Options) map[string]string {
	t.Helper()
	config, err := flinkConfig(options, testLayout())
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func TestConfigFollowsTheVersion(t *testing.T) {
	t.Parallel()
	const scheduler = "jobmanager.adaptive-scheduler."
	cases := map[string]struct {
		reason  string
		version string
		present []string
		absent  []string
	}{
		"1.18": {
			"checkpoints had another key", "1.18.1",
			[]string{scheduler + "resource-stabilization-timeout", "state.checkpoints.dir"},
			[]string{"execution.checkpointing.dir", scheduler + "submission.resource-stabilization-timeout"},
		},
		"1.20": {
			"checkpoints have their new key, the scheduler its old ones", "1.20.5",
			[]string{scheduler + "scaling-interval.min", "execution.checkpointing.dir"},
			[]string{"state.checkpoints.dir", "web.adaptive-scheduler.rescale-history.size"},
		},
		"2.3": {
			"the scheduler's keys are new", "2.3.0",
			[]string{scheduler + "submission.resource-stabilization-timeout", scheduler + "rescale-trigger.max-delay"},
			[]string{scheduler + "resource-stabilization-timeout", scheduler + "scaling-interval.min"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := configFor(t, Options{Version: tc.version, Slots: 4})
			for _, key := range tc.present {
				if config[key] == "" {
					t.Errorf("%s: %s is missing", tc.reason, key)
				}
			}
			for _, key := range tc.absent {
				if value, there := config[key]; there {
					t.Errorf("%s: %s = %q is there", tc.reason, key, value)
				}
			}
		})
	}
}

func TestConfigFollowsTheOptions(t *testing.T) {
	t.Parallel()
	config := configFor(t, Options{
		Version: "2.3.0", Slots: 3, HA: true, WebTimeout: 7 * time.Second, FetchInterval: 500 * time.Millisecond,
		Config: map[string]string{"heartbeat.timeout": "9000", "own.key": "x"},
	})
	want := map[string]string{
		"taskmanager.numberOfTaskSlots":      "3",
		"taskmanager.cpu.cores":              "3.0",
		"web.timeout":                        "7000",
		"metrics.fetcher.update-interval":    "500",
		"jobmanager.rpc.port":                "1002",
		"high-availability.zookeeper.quorum": "127.0.0.1:1003",
		"heartbeat.timeout":                  "9000",
		"own.key":                            "x",
	}
	got := map[string]string{}
	for key := range want {
		got[key] = config[key]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	if _, there := configFor(t, Options{Version: "2.3.0"})["high-availability.type"]; there {
		t.Error("high availability without asking for it")
	}
}

func TestRenderConfig(t *testing.T) {
	t.Parallel()
	config := map[string]string{"b.key": `5 s`, "a.key": `say "x"`}
	cases := map[string]struct{ version, name, content string }{
		"YAML, quoted":              {"1.19.0", "config.yaml", "a.key: \"say \\\"x\\\"\"\nb.key: \"5 s\"\n"},
		"before YAML, without them": {"1.18.1", "flink-conf.yaml", "a.key: say \"x\"\nb.key: 5 s\n"},
	}
	for name, tc := range cases {
		version, err := toolcache.ParseVersion(tc.version)
		if err != nil {
			t.Fatal(err)
		}
		file, content := renderConfig(version, config)
		if file != tc.name || content != tc.content {
			t.Errorf("%s: %s with %q; want %s with %q", name, file, content, tc.name, tc.content)
		}
	}
}

func TestRenderZooKeeper(t *testing.T) {
	t.Parallel()
	got := renderZooKeeper(testLayout())
	for _, want := range []string{"clientPort=1003\n", "clientPortAddress=127.0.0.1\n", "server.1=127.0.0.1:1004:1005\n", "dataDir=/c/zookeeper\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("zoo.cfg has no %q:\n%s", want, got)
		}
	}
}

func TestJavaOptions(t *testing.T) {
	t.Parallel()
	want := []string{"--add-opens=a/b=ALL-UNNAMED", "--add-exports=c/d=ALL-UNNAMED"}
	cases := map[string]string{
		"nested": "# Copyright all: rights\nenv:\n  java:\n    opts:\n      all: \"" + strings.Join(want, " ") + "\"\nother: x\n",
		"flat":   "env.java.opts.all: " + strings.Join(want, " ") + "\nother: x\n",
	}
	for name, config := range cases {
		if diff := cmp.Diff(want, javaOptions(config)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := javaOptions("other: x\n"); got != nil {
		t.Errorf("options %v from a configuration without any", got)
	}
}

// fakeHome is a distribution as far as it is looked at before anything starts.
func fakeHome(t *testing.T, version string) string {
	t.Helper()
	home := t.TempDir()
	for _, file := range []string{"lib/flink-dist-" + version + ".jar", "lib/a.jar", "lib/z.jar", "conf/config.yaml"} {
		path := filepath.Join(home, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

func TestDistribution(t *testing.T) {
	t.Parallel()
	home := fakeHome(t, "9.8.7")
	options, err := Options{Home: home}.withDefaults()
	if err != nil || options.Version != "9.8.7" {
		t.Errorf("version %q, %v; want that of the jar", options.Version, err)
	}
	dist, err := OpenDistribution(home)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, jar := range filepath.SplitList(dist.classpath) {
		names = append(names, filepath.Base(jar))
	}
	if diff := cmp.Diff([]string{"a.jar", "z.jar", "flink-dist-9.8.7.jar"}, names); diff != "" {
		t.Errorf("class path, flink-dist last (-want +got):\n%s", diff)
	}
	if _, err := OpenDistribution(t.TempDir()); err == nil {
		t.Error("an empty folder is taken for a distribution")
	}
}

func TestOptionsReportAllProblems(t *testing.T) {
	t.Parallel()
	_, err := Options{Home: "/x", Version: "two", TaskManagers: -1, Slots: -1, WebTimeout: -1}.withDefaults()
	if err == nil {
		t.Fatal("bad options are accepted")
	}
	for _, field := range []string{"Version", "TaskManagers", "Slots", "WebTimeout"} {
		if !strings.Contains(err.Error(), field+": ") {
			t.Errorf("%s is not reported: %v", field, err)
		}
	}
}
