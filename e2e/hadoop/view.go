package hadoop

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"

	"flinkscaler/internal/child"
)

// Version is the Hadoop release.
func (c *Cluster) Version() string { return c.options.Version }

// Dir is the cluster's folder: conf, log, container-logs.
func (c *Cluster) Dir() string { return c.layout.dir }

// ConfDir is HADOOP_CONF_DIR.
func (c *Cluster) ConfDir() string { return c.layout.path(confName) }

// ClassPath is HADOOP_CLASSPATH: the jars of the client.
func (c *Cluster) ClassPath() string {
	return strings.Join(clientJars(c.machine), string(os.PathListSeparator))
}

// User is whom HDFS and YARN see.
func (c *Cluster) User() string { return c.machine.user }

// DefaultFS is what HDFS is called: "hdfs://localhost:PORT", or "hdfs://testfs" with two NameNodes.
func (c *Cluster) DefaultFS() string { return c.layout.defaultFS() }

// NameNodes are one, or two, the first of which is active at the start.
func (c *Cluster) NameNodes() []*NameNode { return c.nameNodes }

// NameNode is the first one.
func (c *Cluster) NameNode() *NameNode { return c.nameNodes[0] }

// DataNode is the only one.
func (c *Cluster) DataNode() *Daemon { return c.dataNode }

// ResourceManagers are none, one or two.
func (c *Cluster) ResourceManagers() []*ResourceManager { return c.resourceManagers }

// ResourceManager is the first one.
func (c *Cluster) ResourceManager() *ResourceManager { return c.resourceManagers[0] }

// ResourceManagerURLs are the web addresses of all of them.
func (c *Cluster) ResourceManagerURLs() []string {
	var urls []string
	for _, rm := range c.resourceManagers {
		urls = append(urls, rm.URL())
	}
	return urls
}

// HTTP asks the servers' web addresses; in a secured cluster it can log in to them.
func (c *Cluster) HTTP() *http.Client { return c.options.Security.HTTP }

// NodeManager is the only one; nil without YARN.
func (c *Cluster) NodeManager() *Daemon { return c.nodeManager }

// ZooKeeper is nil without.
func (c *Cluster) ZooKeeper() *Daemon { return c.zooKeeper }

// ZooKeeperAddress is where it listens; empty without.
func (c *Cluster) ZooKeeperAddress() string {
	if c.zooKeeper == nil {
		return ""
	}
	return address(c.layout.zooKeeper)
}

// Daemons are all servers, each after those that it needs.
func (c *Cluster) Daemons() []*Daemon {
	var all []*Daemon
	if c.zooKeeper != nil {
		all = append(all, c.zooKeeper)
	}
	for _, n := range c.nameNodes {
		all = append(all, n.Daemon)
	}
	if c.dataNode != nil {
		all = append(all, c.dataNode)
	}
	for _, rm := range c.resourceManagers {
		all = append(all, rm.Daemon)
	}
	if c.nodeManager != nil {
		all = append(all, c.nodeManager)
	}
	return all
}

func (c *Cluster) zooKeeperReady(ctx context.Context) (state string, ok bool) {
	var dialer net.Dialer
	connection, err := dialer.DialContext(ctx, "tcp", address(c.layout.zooKeeper))
	if err != nil {
		return err.Error(), false
	}
	return "", connection.Close() == nil
}

// Tool runs one of Hadoop's command line tools to its end and returns what it wrote. It takes a second or two.
func (c *Cluster) Tool(ctx context.Context, class string, args ...string) (string, error) {
	name := "tool-" + class[strings.LastIndexByte(class, '.')+1:]
	command := c.command(fmt.Sprintf("%s-%d", name, c.tools.Add(1)), c.ConfDir(), class, args...)
	return runTool(ctx, command)
}

// runTool kills the tool when ctx ends.
func runTool(ctx context.Context, command child.Command) (string, error) {
	p, err := child.Start(command)
	if err != nil {
		return "", err
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
		return "", fmt.Errorf("run %s: %w\n%s", command.Name, ctx.Err(), joinErrors(p.End(), p.Tail()))
	}
	output, err := os.ReadFile(p.Log())
	if err != nil {
		return "", err
	}
	if p.ExitCode() != 0 {
		return string(output), fmt.Errorf("run %s: exit code %d\n%s", command.Name, p.ExitCode(), p.Tail())
	}
	return string(output), nil
}

func joinErrors(err error, tail string) string {
	if err != nil {
		return err.Error() + "\n" + tail
	}
	return tail
}

// NodeID is how YARN calls the only node, "localhost:PORT".
func (c *Cluster) NodeID() string { return address(c.layout.nodeManager.address) }

// NodeWebURL is the base of the NodeManager's web addresses.
func (c *Cluster) NodeWebURL() string { return "http://" + address(c.layout.nodeManager.web) }
