package hadoop

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/internal/toolcache"
)

func options(t *testing.T, o Options) Options {
	t.Helper()
	o, err := o.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// ports hands out the same ports each time.
func ports(t *testing.T) {
	t.Helper()
	found := freePorts
	t.Cleanup(func() { freePorts = found })
	freePorts = func(count int) ([]int, error) {
		var all []int
		for i := range count {
			all = append(all, 10000+i)
		}
		return all, nil
	}
}

func TestXML(t *testing.T) {
	t.Parallel()
	got := properties{"b": "<1>", "a": "x & y"}.xml()
	want := "<?xml version=\"1.0\"?>\n<configuration>\n" +
		"  <property><name>a</name><value>x &amp; y</value></property>\n" +
		"  <property><name>b</name><value>&lt;1&gt;</value></property>\n</configuration>\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
}

func TestLaterSourcesWin(t *testing.T) {
	ports(t)
	o := options(t, Options{
		YARN: true, Dir: t.TempDir(),
		Core: map[string]string{"hadoop.tmp.dir": "/mine", "mine": "1"}, HDFS: map[string]string{"mine": "2"}, YARNSite: map[string]string{"mine": "3"},
		Security: &Security{Core: map[string]string{"mine": "4"}, HDFS: map[string]string{"mine": "5"}, YARNSite: map[string]string{"mine": "6"}},
	})
	l, err := newLayout(o)
	if err != nil {
		t.Fatal(err)
	}
	written := files(o, l, machine{user: "alice"}, map[string]string{"own": "rm1"})
	for file, want := range map[string][]string{
		"core-site.xml": {"<name>mine</name><value>4<", "<value>/mine<", "<value>alice<"},
		"hdfs-site.xml": {"<name>mine</name><value>5<"},
		"yarn-site.xml": {"<name>mine</name><value>6<", "<name>own</name><value>rm1<"},
	} {
		for _, part := range want {
			if !strings.Contains(written[file], part) {
				t.Errorf("%s has no %s:\n%s", file, part, written[file])
			}
		}
	}
}

func TestFilesByShape(t *testing.T) {
	ports(t)
	cases := map[string]struct {
		reason string
		o      Options
		want   []string
	}{
		"HDFS alone":    {"YARN is not started, so nothing tells of it", Options{}, []string{"core-site.xml", "hdfs-site.xml", "log4j.properties"}},
		"ZooKeeper":     {"for Flink's high availability", Options{ZooKeeper: true}, []string{"core-site.xml", "hdfs-site.xml", "log4j.properties", "zoo.cfg"}},
		"YARN":          {"both schedulers' files are there", Options{YARN: true}, []string{"capacity-scheduler.xml", "core-site.xml", "fair-scheduler.xml", "hdfs-site.xml", "log4j.properties", "yarn-site.xml"}},
		"a pair of RMs": {"two of them need ZooKeeper", Options{YARN: true, ResourceManagerHA: true}, []string{"capacity-scheduler.xml", "core-site.xml", "fair-scheduler.xml", "hdfs-site.xml", "log4j.properties", "yarn-site.xml", "zoo.cfg"}},
	}
	for name, tc := range cases {
		tc.o.Dir = t.TempDir()
		o := options(t, tc.o)
		l, err := newLayout(o)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Sorted(maps.Keys(files(o, l, machine{}, nil)))
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s, %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
}

// TestPairs: of two servers each has addresses of its own, and nothing names an address without saying whose.
func TestPairs(t *testing.T) {
	ports(t)
	o := options(t, Options{YARN: true, ResourceManagerHA: true, NameNodeHA: true, Dir: t.TempDir()})
	l, err := newLayout(o)
	if err != nil {
		t.Fatal(err)
	}
	all := with(hdfsSite(l), yarnSite(o, l, machine{}))
	for name, want := range map[string]string{
		"dfs.ha.namenodes.testfs":             "nn1,nn2",
		"dfs.namenode.rpc-address.testfs.nn1": "localhost:10000",
		"dfs.namenode.rpc-address.testfs.nn2": "localhost:10002",
		"dfs.namenode.rpc-address":            "",
		"dfs.namenode.name.dir":               "",
		"yarn.resourcemanager.ha.rm-ids":      "rm1,rm2",
		"yarn.resourcemanager.webapp.address": "",
		"hadoop.zk.address":                   "localhost:10020",
	} {
		if got := all[name]; got != want {
			t.Errorf("%s = %q; want %q", name, got, want)
		}
	}
	if l.defaultFS() != "hdfs://testfs" {
		t.Errorf("HDFS is called %s", l.defaultFS())
	}
	used := map[string]string{}
	for name, value := range all {
		if strings.HasPrefix(value, host+":") && name != "hadoop.zk.address" {
			if other, taken := used[value]; taken && !strings.Contains(name+other, "zk") {
				t.Errorf("%s and %s are both %s", name, other, value)
			}
			used[value] = name
		}
	}
}

func TestBadOptions(t *testing.T) {
	t.Parallel()
	_, err := Options{Version: "three", NodeMemory: -1, ResourceManagerHA: true}.withDefaults()
	for _, want := range []string{"Version: ", "NodeMemory and NodeCores: ", "ResourceManagerHA: needs YARN"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v; want %q in it", err, want)
		}
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	c := &Cluster{layout: layout{nameNodes: []nameNode{{rpc: 9000}}}}
	app := Application{Name: "orders", Tags: []string{"a", "b"}, Queue: "small", Parallelism: 2, Savepoint: "hdfs://x/sp", Args: []string{"--rate-file", "/r"}, Options: map[string]string{"k": "v w"}}
	cases := map[string]struct{ verb, savepoint string }{
		"1.20.5": {"run-application", "execution.savepoint.path"},
		"2.3.0":  {"run", "execution.state-recovery.path"},
	}
	for version, tc := range cases {
		parsed, err := toolcache.ParseVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		f := &Flink{cluster: c, version: parsed}
		want := []string{
			tc.verb, "-t", "yarn-application", "-d", "-D" + tc.savepoint + "=hdfs://x/sp", "-Dk=v w", "-Dparallelism.default=2",
			"-Dyarn.application.name=orders", "-Dyarn.application.queue=small", "-Dyarn.tags=a,b",
			"-c", "flinkscaler.testjob.TestJob", "hdfs://localhost:9000/flink-" + version + "/testjob.jar", "--rate-file", "/r",
		}
		if diff := cmp.Diff(want, f.Arguments(app)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", version, diff)
		}
	}
}
