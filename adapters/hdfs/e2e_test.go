//go:build e2e

package hdfs_test

import (
	"context"
	"encoding/xml"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"flinkscaler/activities/porttest"
	"flinkscaler/adapters/hdfs"
	"flinkscaler/core"
)

// TestSavepoints: the contract of what reads savepoints.
func TestSavepoints(t *testing.T) {
	put(t, service+"/contract", nil)
	porttest.RunSavepoints(t, porttest.Storage{
		Savepoints: storage(t), Base: service + "/contract", Foreign: "file:///savepoints", Put: put,
		Break: func(t *testing.T) func() {
			active := cluster.NameNode()
			must(t, active.Freeze())
			return func() { must(t, active.Thaw()) }
		},
	})
	_, err := storage(t).Check(t.Context(), "hdfs://other/savepoints")
	wantError(t, "another nameservice", err, core.ErrRefused)
}

// TestSpaceAndTidy: the contract of what deletes them.
func TestSpaceAndTidy(t *testing.T) {
	put(t, service+"/tidy", nil)
	s := storage(t)
	porttest.RunPrune(t, porttest.Prune{
		Storage: porttest.Storage{Savepoints: s, Base: service + "/tidy", Foreign: "file:///savepoints", Put: put}, Spaces: s, Pruner: s,
	})
}

// TestStaged: what a submission has left is removed with all that is in it, and nothing
// beside it.
func TestStaged(t *testing.T) {
	s, folder := storage(t), service+"/staged/0a"
	put(t, folder+"/.flink/application_1", []byte("x"))
	put(t, service+"/staged/0b", []byte("x"))
	must(t, s.Exists(t.Context(), folder+"/.flink/application_1/_metadata"))
	for range 2 {
		must(t, s.Unstage(t.Context(), folder))
		wantError(t, "what was removed", s.Exists(t.Context(), folder), core.ErrNotFound)
	}
	must(t, s.Exists(t.Context(), service+"/staged/0b/_metadata"))
}

// TestNoNameNode: one that is gone is seen at once, and the same Storage goes on
// when it is back.
func TestNoNameNode(t *testing.T) {
	s, url := storage(t), savepoint(t, "killed")
	must(t, s.Answers(t.Context(), url))
	active := cluster.NameNode()
	must(t, active.Kill())
	var err error
	if d := took(func() { _, err = s.Check(t.Context(), url) }); d > quick {
		t.Errorf("it took %s to see that the port is closed", d)
	}
	wantError(t, "check without a NameNode", err, core.ErrUnreachable)
	wantError(t, "a write without a NameNode", s.Answers(t.Context(), url), core.ErrUnreachable)
	must(t, active.Restart(t.Context()))
	wantError(t, "two standby NameNodes", s.Answers(t.Context(), url), core.ErrUnreachable)
	must(t, active.Activate(t.Context()))
	heals(t, s, url)
}

// TestAFrozenNameNode is given up in time, at once where the caller gives up, and
// heals after the thaw.
func TestAFrozenNameNode(t *testing.T) {
	s, url := storage(t), savepoint(t, "frozen")
	_, err := s.Check(t.Context(), url)
	must(t, err)
	active := cluster.NameNode()
	must(t, active.Freeze())
	t.Cleanup(func() { _ = active.Thaw() })
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if d := took(func() { _, err = s.Check(ctx, url) }); d > quick/2 {
		t.Errorf("it went on for %s after its ctx had ended", d)
	}
	wantError(t, "check with a ctx that ended", err, core.ErrUnreachable)
	if d := took(func() { _, err = s.List(t.Context(), service+"/frozen") }); d < quick || d > 3*quick {
		t.Errorf("it gave up after %s", d)
	}
	wantError(t, "list at a frozen NameNode", err, core.ErrUnreachable)
	must(t, active.Thaw())
	heals(t, s, url)
}

// TestTheDataNode: without it the names are there and the content is not.
func TestTheDataNode(t *testing.T) {
	s, url := storage(t), savepoint(t, "data")
	must(t, cluster.DataNode().Freeze())
	var err error
	if d := took(func() { _, err = s.Check(t.Context(), url) }); d > 3*quick {
		t.Errorf("it gave up a frozen DataNode after %s", d)
	}
	wantError(t, "a frozen DataNode", err, core.ErrUnreachable)
	must(t, cluster.DataNode().Thaw())
	heals(t, s, url)
	must(t, cluster.DataNode().Kill())
	_, err = s.Check(t.Context(), url)
	wantError(t, "a killed DataNode", err, core.ErrUnreachable)
	_, err = s.List(t.Context(), service+"/data")
	wantError(t, "a list without a DataNode", err, core.ErrUnreachable)
	must(t, s.Answers(t.Context(), url))
	must(t, cluster.DataNode().Restart(t.Context()))
	heals(t, s, url)
}

// TestFailover: the other NameNode is found, and asked first from then on: the one
// that was active may hang meanwhile.
func TestFailover(t *testing.T) {
	s, url := storage(t), savepoint(t, "failover")
	_, err := s.Check(t.Context(), url)
	must(t, err)
	first, second := cluster.NameNodes()[0], cluster.NameNodes()[1]
	must(t, second.Activate(t.Context()))
	t.Cleanup(func() { must(t, first.Activate(context.Background())) })
	heals(t, s, url)
	must(t, first.Freeze())
	t.Cleanup(func() { _ = first.Thaw() })
	if d := took(func() { _, err = s.Check(t.Context(), url) }); err != nil || d > quick {
		t.Errorf("after the failover it took %s: %v", d, err)
	}
	// One that knows of no failover loses one answer.
	if d := took(func() { _, err = storage(t).Check(t.Context(), url) }); err != nil || d < quick {
		t.Errorf("past a frozen NameNode it took %s: %v", d, err)
	}
	must(t, first.Thaw())
}

// TestSafeMode: it reads, and takes no write.
func TestSafeMode(t *testing.T) {
	s, url := storage(t), savepoint(t, "safe/1-1-aa")
	mode := func(m string) {
		t.Helper()
		_, err := cluster.Tool(t.Context(), "org.apache.hadoop.hdfs.tools.DFSAdmin", "-safemode", m)
		must(t, err)
	}
	mode("enter")
	_, err := s.Check(t.Context(), url)
	must(t, err)
	err = s.Answers(t.Context(), url)
	wantError(t, "safe mode", err, core.ErrUnreachable)
	if !strings.Contains(err.Error(), "safe mode") {
		t.Errorf("it does not say so: %v", err)
	}
	err = s.Remove(t.Context(), service+"/safe", service+"/safe/1-1-aa")
	wantError(t, "delete in safe mode", err, core.ErrUnreachable)
	mode("leave")
	must(t, s.Answers(t.Context(), url))
	must(t, s.Remove(t.Context(), service+"/safe", service+"/safe/1-1-aa"))
}

// TestPermission: who may not is named. That is no outage.
func TestPermission(t *testing.T) {
	url := savepoint(t, "private")
	must(t, super(t).Chmod("/private", 0o700))
	s := storage(t, func(c *hdfs.Config) { c.User = "somebody" })
	_, err := s.Check(t.Context(), url)
	wantError(t, "check", err, core.ErrRefused)
	if !strings.Contains(err.Error(), "the user somebody may not") {
		t.Errorf("it does not say who: %v", err)
	}
	_, err = s.List(t.Context(), service+"/private")
	wantError(t, "list", err, core.ErrRefused)
	must(t, s.Answers(t.Context(), url))
	other := savepoint(t, "theirs/1-1-aa")
	wantError(t, "delete", s.Remove(t.Context(), service+"/theirs", service+"/theirs/1-1-aa"), core.ErrRefused)
	_, err = s.Check(t.Context(), other)
	must(t, err)
}

// TestQuota: the least of the directory and all above it.
func TestQuota(t *testing.T) {
	savepoint(t, "quota/deep")
	_, err := cluster.Tool(t.Context(), "org.apache.hadoop.hdfs.tools.DFSAdmin", "-setSpaceQuota", "1000000000", "/quota")
	must(t, err)
	_, err = cluster.Tool(t.Context(), "org.apache.hadoop.hdfs.tools.DFSAdmin", "-setQuota", "10", "/quota/deep")
	must(t, err)
	got, err := storage(t).Space(t.Context(), service+"/quota/deep/new")
	must(t, err)
	free, _ := got.Free.Value()
	names, _ := got.Names.Value()
	if free != 1000000000-float64(len(magic())) || got.Bound != "the space quota of /quota" || names != 7 || got.Copies != 1 {
		t.Errorf("space %+v: %f bytes, %f names", got, free, names)
	}
}

// TestFederation: of two nameservices only the one of the URL is asked, though the
// other one comes first and hangs.
func TestFederation(t *testing.T) {
	url := savepoint(t, "federated")
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = silent.Close() }()
	dir := t.TempDir()
	entries := [][2]string{
		{"fs.defaultFS", "hdfs://backup"}, {"dfs.nameservices", "backup,testfs"}, {"dfs.namenode.rpc-address.backup", silent.Addr().String()},
		{"dfs.ha.namenodes.testfs", "a,b"}, {"dfs.namenode.rpc-address.testfs.a", cluster.NameNodes()[0].Address()}, {"dfs.namenode.rpc-address.testfs.b", cluster.NameNodes()[1].Address()},
	}
	var b strings.Builder
	b.WriteString("<configuration>")
	for _, e := range entries {
		b.WriteString("<property><name>" + e[0] + "</name><value>")
		must(t, xml.EscapeText(&b, []byte(e[1])))
		b.WriteString("</value></property>")
	}
	b.WriteString("</configuration>")
	must(t, os.WriteFile(filepath.Join(dir, "hdfs-site.xml"), []byte(b.String()), 0o600))
	s := storage(t, func(c *hdfs.Config) { c.ConfigDirectory = dir })
	if d := took(func() { _, err = s.Check(t.Context(), url) }); err != nil || d > quick {
		t.Errorf("ours: %v after %s", err, d)
	}
	_, err = s.Check(t.Context(), "hdfs:///federated/savepoint-a")
	wantError(t, "the default one, which hangs", err, core.ErrUnreachable)
}

// TestNoRPCPort: something else answers there.
func TestNoRPCPort(t *testing.T) {
	at := strings.TrimPrefix(cluster.NameNode().WebURL(), "http://")
	s := storage(t, func(c *hdfs.Config) {
		c.ConfigDirectory, c.Nameservices = "", map[string][]string{"testfs": {at}}
	})
	_, err := s.Check(t.Context(), service+"/a")
	wantError(t, "the port of its web pages", err, core.ErrUnreachable)
}

// TestNothingIsLeft of any call: no goroutine that renews leases, no connection.
func TestNothingIsLeft(t *testing.T) {
	s, url := storage(t), savepoint(t, "left")
	before := clients() // the test's own
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		_, err := s.Check(t.Context(), url)
		must(t, err)
		_, err = s.List(t.Context(), service+"/left")
		must(t, err)
		_, _ = s.Check(t.Context(), service+"/none")
		_, _ = s.Check(ended, url)
	}
	deadline := time.Now().Add(time.Minute)
	for {
		n := clients()
		if n == before {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d clients are left, %d were there before", n, before)
		}
		runtime.Gosched()
	}
}

// clients counts the goroutines of clients, and those that are in a call.
func clients() int {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	n := 0
	for _, sign := range []string{"rpc.NewNamenodeConnection in goroutine", "adapters/hdfs.(*", "adapters/hdfs.ask"} {
		n += strings.Count(string(stacks), sign)
	}
	return n
}
