package hadoop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"flinkscaler/internal/child"
)

// tries is how often a start is tried when another program took one of its ports meanwhile.
const tries = 4

// Main classes of the servers.
const (
	nameNodeClass        = "org.apache.hadoop.hdfs.server.namenode.NameNode"
	dataNodeClass        = "org.apache.hadoop.hdfs.server.datanode.DataNode"
	resourceManagerClass = "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager"
	nodeManagerClass     = "org.apache.hadoop.yarn.server.nodemanager.NodeManager"
	zooKeeperClass       = "org.apache.zookeeper.server.ZooKeeperServerMain"
)

// zooKeeperName is that of the server and of the folder with its data.
const zooKeeperName = "zookeeper"

// Cluster is a running cluster. Close ends it.
type Cluster struct {
	options Options
	layout  layout
	machine machine
	reaper  *reaper
	started time.Time
	saying  sync.Mutex // one line at a time
	closing sync.Mutex
	closed  bool
	tools   atomic.Int64 // run so far

	uploading sync.Mutex      // guards uploaded
	uploaded  map[string]bool // by Flink version

	zooKeeper        *Daemon // nil without
	nameNodes        []*NameNode
	dataNode         *Daemon
	resourceManagers []*ResourceManager
	nodeManager      *Daemon // nil without YARN
}

// Start runs a cluster and returns when all of it does its work. ctx bounds the start only: the cluster then runs until
// Close, or until this process ends.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("start hadoop: %w", err)
	}
	found, err := findMachine(options.Version)
	if err != nil {
		return nil, fmt.Errorf("start hadoop %s: %w", options.Version, err)
	}
	for range tries {
		c, startErr := startOnce(ctx, options, found)
		if startErr == nil {
			return c, nil
		}
		err = startErr
		if !errors.Is(err, errPortTaken) {
			break
		}
		fmt.Fprintf(options.Log, "hadoop %s: %v; starting again on other ports\n", options.Version, errPortTaken)
	}
	return nil, fmt.Errorf("start hadoop %s: %w", options.Version, err)
}

// startOnce leaves nothing running and no folder when it fails.
func startOnce(ctx context.Context, options Options, found machine) (*Cluster, error) {
	l, err := newLayout(options)
	if err != nil {
		return nil, err
	}
	c := &Cluster{options: options, layout: l, machine: found, started: time.Now(), uploaded: map[string]bool{}}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// start launches everything side by side: each server asks for those that it needs until they are there. Only
// ResourceManagers give up without their ZooKeeper, so that one comes first.
func (c *Cluster) start(ctx context.Context) error {
	if err := c.writeFiles(); err != nil {
		return err
	}
	var err error
	if c.reaper, err = startReaper(c.layout.dir, !c.options.KeepDir); err != nil {
		return err
	}
	c.makeDaemons()
	if c.zooKeeper != nil {
		if err := c.zooKeeper.Launch(); err != nil {
			return err
		}
	}
	if err := c.format(ctx); err != nil {
		return err
	}
	if c.zooKeeper != nil {
		if err := c.awaitAloud(ctx, c.zooKeeper); err != nil {
			return err
		}
	}
	for _, d := range c.Daemons() {
		if d == c.zooKeeper {
			continue
		}
		if err := d.Launch(); err != nil {
			return err
		}
	}
	return c.awaitAll(ctx)
}

// awaitAll waits for each server after those that it needs; all of them are on their way meanwhile.
func (c *Cluster) awaitAll(ctx context.Context) error {
	for _, n := range c.nameNodes {
		if err := c.awaitAloud(ctx, n.Daemon); err != nil {
			return err
		}
	}
	if len(c.nameNodes) > 1 {
		if err := c.nameNodes[0].Activate(ctx); err != nil {
			return err
		}
		c.say("%s is active", c.nameNodes[0].Name())
	}
	if err := c.awaitAloud(ctx, c.dataNode); err != nil {
		return err
	}
	for _, rm := range c.resourceManagers {
		if err := c.awaitAloud(ctx, rm.Daemon); err != nil {
			return err
		}
	}
	if c.nodeManager == nil {
		return nil
	}
	return c.awaitAloud(ctx, c.nodeManager)
}

func (c *Cluster) makeDaemons() {
	if c.layout.zooKeeper != 0 {
		c.zooKeeper = c.daemon(zooKeeperName, "", c.zooKeeperReady, zooKeeperClass, filepath.Join(c.ConfDir(), "zoo.cfg"))
	}
	for _, n := range c.layout.nameNodes {
		c.nameNodes = append(c.nameNodes, c.newNameNode(n))
	}
	c.dataNode = c.daemon("datanode", "", c.dataNodeReady, dataNodeClass)
	for _, rm := range c.layout.resourceManagers {
		c.resourceManagers = append(c.resourceManagers, c.newResourceManager(rm))
	}
	if c.options.YARN {
		c.nodeManager = c.daemon("nodemanager", "", c.nodeManagerReady, nodeManagerClass)
	}
}

// daemon makes a server; id is which of a pair it is.
func (c *Cluster) daemon(name, id string, ready func(context.Context) (string, bool), class string, args ...string) *Daemon {
	command := c.command(name, c.layout.confDir(id), class, args...)
	return &Daemon{timeout: c.options.WaitTimeout, ready: ready, child: child.New(command)}
}

// command runs one of Hadoop's main classes with the configuration in a folder.
func (c *Cluster) command(name, conf, class string, args ...string) child.Command {
	return child.Command{
		Name: name, Path: c.machine.java, Args: c.javaArgs(conf, class, args...),
		Env: c.javaEnv(conf), Dir: c.layout.dir, LogDir: c.layout.path(logName),
	}
}

func (c *Cluster) javaEnv(conf string) []string {
	return append([]string{"HADOOP_CONF_DIR=" + conf, "JAVA_HOME=" + c.machine.javaHome}, c.options.Security.Env...)
}

func (c *Cluster) awaitAloud(ctx context.Context, d *Daemon) error {
	if err := d.WaitReady(ctx); err != nil {
		return err
	}
	c.say("%s is ready (pid %d)", d.Name(), d.PID())
	return nil
}

func (c *Cluster) say(format string, args ...any) {
	took := time.Since(c.started).Round(100 * time.Millisecond)
	c.saying.Lock()
	defer c.saying.Unlock()
	fmt.Fprintf(c.options.Log, "hadoop %s: %s after %s\n", c.options.Version, fmt.Sprintf(format, args...), took)
}

// Close ends all servers and all containers for good, and removes the cluster's folder unless it is to be kept. They are
// killed: what they would save is of no use to anybody. Closing again does nothing.
func (c *Cluster) Close() error {
	c.closing.Lock()
	defer c.closing.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	problems := endAll(c.Daemons())
	problems = append(problems, killBelow(c.layout.dir))
	if !c.options.KeepDir {
		problems = append(problems, os.RemoveAll(c.layout.dir))
	}
	return errors.Join(append(problems, c.reaper.release())...)
}

// endAll kills side by side, so that no server is still busy with the loss of another. The NodeManager comes first: it
// would start containers anew.
func endAll(daemons []*Daemon) []error {
	problems := make([]error, len(daemons))
	var ended sync.WaitGroup
	for i, d := range slices.Backward(daemons) {
		ended.Go(func() { problems[i] = d.child.End() })
	}
	ended.Wait()
	return problems
}
