package hadoop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
)

// NameNode is one of HDFS.
type NameNode struct {
	*Daemon
	cluster *Cluster
	at      nameNode
}

func (c *Cluster) newNameNode(at nameNode) *NameNode {
	n := &NameNode{cluster: c, at: at}
	n.Daemon = c.daemon("namenode-"+at.id, at.id, n.ready, nameNodeClass)
	return n
}

// ID is nn1 or nn2.
func (n *NameNode) ID() string { return n.at.id }

// Address is where clients speak to it, "localhost:PORT".
func (n *NameNode) Address() string { return address(n.at.rpc) }

// WebURL is the base of its web addresses.
func (n *NameNode) WebURL() string { return "http://" + address(n.at.http) }

// fileSystem is what a NameNode shows of HDFS.
type fileSystem struct {
	State         string `json:"FSState"`
	LiveDataNodes int    `json:"NumLiveDataNodes"`
}

// fileSystem asks for it.
func (n *NameNode) fileSystem(ctx context.Context) (fileSystem, error) {
	var beans struct{ Beans []fileSystem }
	err := n.cluster.get(ctx, n.WebURL()+"/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState", &beans)
	if err == nil && len(beans.Beans) == 0 {
		err = errors.New("it shows no file system yet")
	}
	if err != nil {
		return fileSystem{}, err
	}
	return beans.Beans[0], nil
}

// State is "active" or "standby".
func (n *NameNode) State(ctx context.Context) (string, error) {
	var beans struct{ Beans []struct{ State string } }
	err := n.cluster.get(ctx, n.WebURL()+"/jmx?qry=Hadoop:service=NameNode,name=NameNodeStatus", &beans)
	if err == nil && len(beans.Beans) == 0 {
		err = errors.New("it shows no state yet")
	}
	if err != nil {
		return "", fmt.Errorf("state of %s: %w", n.Name(), err)
	}
	return beans.Beans[0].State, nil
}

// ready: it serves. Whether HDFS can be written to is the DataNode's question.
func (n *NameNode) ready(ctx context.Context) (state string, ok bool) {
	if _, err := n.fileSystem(ctx); err != nil {
		return err.Error(), false
	}
	return "", true
}

// Activate makes this one of two NameNodes the active one, and the other a standby first if it answers.
func (n *NameNode) Activate(ctx context.Context) error {
	for _, other := range n.cluster.nameNodes {
		if other == n {
			continue
		}
		if state, err := other.State(ctx); err == nil && state == "active" {
			if err := n.cluster.admin(ctx, "-transitionToStandby", other.at.id); err != nil {
				return err
			}
		}
	}
	return n.cluster.admin(ctx, "-transitionToActive", n.at.id)
}

func (c *Cluster) admin(ctx context.Context, args ...string) error {
	_, err := c.Tool(ctx, "org.apache.hadoop.hdfs.tools.DFSHAAdmin", append([]string{"-ns", nameService}, args...)...)
	return err
}

// FS runs a command of the file system's shell, such as "-put", FROM, TO. It takes a second or two.
func (c *Cluster) FS(ctx context.Context, args ...string) (string, error) {
	return c.Tool(ctx, "org.apache.hadoop.fs.FsShell", args...)
}

// dataNodeReady asks the NameNodes that are alive: one of them is out of safe mode and knows the DataNode.
func (c *Cluster) dataNodeReady(ctx context.Context) (state string, ok bool) {
	var seen []string
	for _, n := range c.nameNodes {
		if !n.Alive() {
			continue
		}
		shown, err := n.fileSystem(ctx)
		switch {
		case err != nil:
			seen = append(seen, err.Error())
		case shown.State == "Operational" && shown.LiveDataNodes == 1:
			return "", true
		default:
			seen = append(seen, fmt.Sprintf("%s is %s with %d DataNodes", n.Name(), shown.State, shown.LiveDataNodes))
		}
	}
	return strings.Join(seen, ", "), false
}

// format makes an empty HDFS. A second NameNode begins with a copy of the first one's image.
func (c *Cluster) format(ctx context.Context) error {
	first := c.layout.nameNodes[0]
	if _, err := runTool(ctx, c.command("format", c.layout.confDir(first.id), nameNodeClass, "-format", "-nonInteractive")); err != nil {
		return fmt.Errorf("format HDFS: %w", err)
	}
	for _, other := range c.layout.nameNodes[1:] {
		if err := os.CopyFS(c.layout.nameDir(other), os.DirFS(c.layout.nameDir(first))); err != nil {
			return fmt.Errorf("format HDFS: %w", err)
		}
	}
	return nil
}
