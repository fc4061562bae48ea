package hdfs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func configure(t *testing.T, core, site string) string {
	t.Helper()
	dir := t.TempDir()
	for name, body := range map[string]string{coreSite: core, hdfsSite: site} {
		if body == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("<?xml version=\"1.0\"?>\n<configuration>"+body+"</configuration>"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func prop(name, value string) string {
	return "<property><name>" + name + "</name><value>" + value + "</value></property>"
}

func TestPropertiesOfHadoop(t *testing.T) {
	t.Setenv("HDFS_TEST_HOST", "nn.example.com")
	const final = "<property><name>a</name><value>1</value><final>true</final></property>"
	for name, tt := range map[string]struct {
		reason     string
		core, site string
		key, want  string
	}{
		"plain":             {"as it is written", prop("a", " 1 "), "", "a", "1"},
		"later":             {"hdfs-site.xml comes after core-site.xml", prop("a", "1"), prop("a", "2"), "a", "2"},
		"final":             {"what is final stays", final, prop("a", "2"), "a", "1"},
		"final in one file": {"it does not hold within its own file", final + prop("a", "2"), "", "a", "2"},
		"reference":         {"references are followed", prop("a", "x-${b}-${c}") + prop("b", "1") + prop("c", "${b}"), "", "a", "x-1-1"},
		"to nothing":        {"as Hadoop leaves it", prop("a", "${b}"), "", "a", "${b}"},
		"to itself":         {"it must end", prop("a", "${a}"), "", "a", "${a}"},
		"environment":       {"a variable of the process", prop("a", "${env.HDFS_TEST_HOST}:8020"), "", "a", "nn.example.com:8020"},
		"environment, else": {"with a default", prop("a", "${env.HDFS_TEST_NONE:-nn}"), "", "a", "nn"},
		"only hdfs-site":    {"one file is enough", "", prop("a", "1"), "a", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := readProperties(configure(t, tt.core, tt.site))
			if err != nil || p.get(tt.key) != tt.want {
				t.Errorf("%s: got %q, %v, want %q", tt.reason, p.get(tt.key), err, tt.want)
			}
		})
	}
}

func TestFilesThatAreNoConfiguration(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ reason, core, want string }{
		"an include": {"what is missing must be said", `<xi:include href="more.xml" xmlns:xi="http://www.w3.org/2001/XInclude"/>`, "more.xml"},
		"no XML":     {"half a file is none", "<property>", "syntax error"},
	} {
		_, err := readProperties(configure(t, tt.core, ""))
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), coreSite) {
			t.Errorf("%s: %s: %v", name, tt.reason, err)
		}
	}
	if _, err := readProperties(t.TempDir()); err == nil {
		t.Error("a directory without files is taken")
	}
}

// pair is a configuration as a federation with two nameservices has it.
const pair = "dfs.namenode.rpc-address."

func TestPlaces(t *testing.T) {
	t.Parallel()
	single := prop("fs.defaultFS", "hdfs://NN.example.com/ignored")
	federated := prop("fs.defaultFS", "hdfs://ours") + prop("dfs.nameservices", "ours, backup,lost") +
		prop("dfs.ha.namenodes.ours", "a,b") + prop(pair+"ours.a", "nn1") + prop(pair+"ours.b", "nn2:9000") + prop(pair+"backup", "far:8020")
	given := map[string][]string{"ns": {"nn1:8020", "nn2:8020"}}
	for name, tt := range map[string]struct {
		reason, conf string
		given        map[string][]string
		url          string
		nodes        []string
		path, fault  string
	}{
		"nameservice":          {"all of its NameNodes, in their order", federated, nil, "hdfs://ours/sp//a/", []string{"nn1:8020", "nn2:9000"}, "/sp/a", ""},
		"another nameservice":  {"and only its own", federated, nil, "hdfs://backup/sp", []string{"far:8020"}, "/sp", ""},
		"one of its NameNodes": {"as a person may write it", federated, nil, "hdfs://nn2:9000/sp", []string{"nn2:9000"}, "/sp", ""},
		"without NameNodes":    {"the property that is missing is named", federated, nil, "hdfs://lost/sp", nil, "", "dfs.namenode.rpc-address.lost"},
		"unknown":              {"those known are named", federated, nil, "hdfs://other/sp", nil, "", "other is not one of the nameservices that this worker knows: backup, far:8020, nn1:8020, nn2:9000, ours"},
		"default":              {"fs.defaultFS tells it", federated, nil, "hdfs:///sp", []string{"nn1:8020", "nn2:9000"}, "/sp", ""},
		"default, short":       {"Flink writes this too", federated, nil, "hdfs:/sp", []string{"nn1:8020", "nn2:9000"}, "/sp", ""},
		"one NameNode":         {"the port is known", single, nil, "hdfs://nn.example.com/sp", []string{"nn.example.com:8020"}, "/sp", ""},
		"one NameNode, port":   {"it may be written out", single, nil, "hdfs://nn.example.com:8020/sp", []string{"nn.example.com:8020"}, "/sp", ""},
		"other port":           {"another server, perhaps another HDFS", single, nil, "hdfs://nn.example.com:9000/sp", nil, "", "not one of"},
		"given":                {"without files", "", given, "hdfs://ns/sp", []string{"nn1:8020", "nn2:8020"}, "/sp", ""},
		"given, default":       {"there is only one", "", given, "hdfs:///sp", []string{"nn1:8020", "nn2:8020"}, "/sp", ""},
		"given over files":     {"what is given comes first", federated, map[string][]string{"ours": {"x:1"}}, "hdfs://ours/sp", []string{"x:1"}, "/sp", ""},
		"default elsewhere":    {"it is not HDFS", prop("fs.defaultFS", "viewfs://all"), given, "hdfs:///sp", nil, "", "fs.defaultFS is viewfs://all"},
		"rpc-address alone":    {"the oldest form", prop("dfs.namenode.rpc-address", "nn:8020"), nil, "hdfs://nn/sp", []string{"nn:8020"}, "/sp", ""},
		"another scheme":       {"not ours", federated, nil, "s3://ours/sp", nil, "", "no URL of HDFS"},
		"a path":               {"not ours", federated, nil, "/sp", nil, "", "no URL of HDFS"},
		"relative":             {"it would be of a home directory", federated, nil, "hdfs:sp", nil, "", "no URL of HDFS"},
		"percent":              {"Flink encodes nothing", federated, nil, "hdfs://ours/a%20b", []string{"nn1:8020", "nn2:9000"}, "/a%20b", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := properties{}
			if tt.conf != "" {
				var err error
				if p, err = readProperties(configure(t, tt.conf, "")); err != nil {
					t.Fatal(err)
				}
			}
			got, err := newPlaces(p, tt.given).find(tt.url)
			if (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
				t.Fatalf("%s: error %v, want %q", tt.reason, err, tt.fault)
			}
			if diff := cmp.Diff(tt.nodes, got.nodes); diff != "" || got.path != tt.path {
				t.Errorf("%s: path %s, NameNodes (-want +got):\n%s", tt.reason, got.path, diff)
			}
		})
	}
}
