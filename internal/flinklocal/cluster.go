package flinklocal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"flinkscaler/internal/child"
)

// portTries is how often a start is tried when another program took one of its ports meanwhile.
const portTries = 4

// Cluster is a running Flink cluster. Close ends it.
type Cluster struct {
	options Options
	dist    Distribution
	layout  layout
	http    *http.Client
	started time.Time
	saying  sync.Mutex // one line at a time

	zookeeper   *Process // nil without HA
	jobManagers []*Process

	mu           sync.Mutex // guards the following
	taskManagers []*Process
	closed       bool
}

// Start runs a cluster and returns when all slots of all TaskManagers are available. ctx bounds the start only: the
// cluster then runs until Close, or until this process ends.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("start flink: %w", err)
	}
	dist, err := OpenDistribution(options.Home)
	if err != nil {
		return nil, fmt.Errorf("start flink %s: %w", options.Version, err)
	}
	for range portTries {
		c, startErr := startOnce(ctx, options, dist)
		if startErr == nil {
			return c, nil
		}
		err = startErr
		if !errors.Is(err, errPortTaken) {
			break
		}
		fmt.Fprintf(options.Log, "flink %s: %v; starting again on other ports\n", options.Version, errPortTaken)
	}
	return nil, fmt.Errorf("start flink %s: %w", options.Version, err)
}

// startOnce leaves nothing running and no folder when it fails.
func startOnce(ctx context.Context, options Options, dist Distribution) (*Cluster, error) {
	layout, err := newLayout(options)
	if err != nil {
		return nil, err
	}
	c := &Cluster{options: options, dist: dist, layout: layout, http: &http.Client{}, started: time.Now()}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// newLayout makes the cluster's folder and picks its ports.
func newLayout(o Options) (layout, error) {
	const jobManagersWithHA = 2
	count := 1
	if o.HA {
		count = jobManagersWithHA
	}
	ports, err := child.FreePorts(count + 4)
	if err != nil {
		return layout{}, err
	}
	dir, err := os.MkdirTemp(o.Dir, "flink-"+o.Version+"-")
	if err != nil {
		return layout{}, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return layout{}, err
	}
	rest, others := ports[:count], ports[count:]
	return layout{
		dir: dir, rest: rest, rpc: others[0], zookeeper: others[1], zookeeperPeer: [2]int{others[2], others[3]},
	}, nil
}

// start brings the processes up. JobManager and TaskManagers start together: a TaskManager asks for its JobManager until
// it is there. A JobManager gives up without its ZooKeeper, so that one comes first.
func (c *Cluster) start(ctx context.Context) error {
	if err := c.writeFiles(); err != nil {
		return err
	}
	if c.options.HA {
		if err := c.startZooKeeper(ctx); err != nil {
			return err
		}
	}
	for index := range c.layout.rest {
		c.jobManagers = append(c.jobManagers, c.newJobManager(index))
	}
	for range c.options.TaskManagers {
		if _, err := c.newTaskManager(); err != nil {
			return err
		}
	}
	processes := slices.Concat(c.jobManagers, c.TaskManagers())
	for _, p := range processes {
		if err := p.child.Launch(); err != nil {
			return err
		}
	}
	if err := c.awaitTogether(ctx, processes); err != nil {
		return err
	}
	return c.waitAllSlots(ctx)
}

func (c *Cluster) waitAllSlots(ctx context.Context) error {
	slots := c.options.TaskManagers * c.options.Slots
	err := c.waitOverview(ctx, fmt.Sprintf("%d available slots", slots), func(o Overview) bool {
		return o.SlotsAvailable == slots
	})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, c.jobManagers[0].Tail())
	}
	c.say("ready with %d slots at %s", slots, strings.Join(c.URLs(), " and "))
	return nil
}

func (c *Cluster) writeFiles() error {
	for _, dir := range []string{c.layout.logDir(), c.layout.path("tmp"), c.layout.path(zooKeeperName)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	config, err := flinkConfig(c.options, c.layout)
	if err != nil {
		return err
	}
	if err := c.dist.WriteConfig(c.layout.confDir(taskManagerConf), config); err != nil {
		return err
	}
	for index, port := range c.layout.rest {
		own := maps.Clone(config)
		own["rest.port"] = strconv.Itoa(port)
		if err := c.dist.WriteConfig(c.layout.confDir(jobManagerName(index)), own); err != nil {
			return err
		}
	}
	return writeFile(filepath.Join(c.layout.confDir(zooKeeperName), "zoo.cfg"), renderZooKeeper(c.layout))
}

func writeFile(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o644)
}

func (c *Cluster) startZooKeeper(ctx context.Context) error {
	address := net.JoinHostPort(loopback, strconv.Itoa(c.layout.zookeeper))
	c.zookeeper = c.newProcess(JVM{
		Name: zooKeeperName, Class: zooKeeperClass, ConfDir: c.layout.confDir(zooKeeperName),
		Args: []string{"--zkConfigFile", filepath.Join(c.layout.confDir(zooKeeperName), "zoo.cfg"), "--peerId", "1"},
	})
	c.zookeeper.ready = func(ctx context.Context, _ *child.Process) (string, bool) { return listens(ctx, address) }
	if err := c.zookeeper.child.Launch(); err != nil {
		return err
	}
	return c.awaitAloud(ctx, c.zookeeper)
}

func listens(ctx context.Context, address string) (state string, ok bool) {
	var dialer net.Dialer
	connection, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err.Error(), false
	}
	return "", connection.Close() == nil
}

func (c *Cluster) newJobManager(index int) *Process {
	url := "http://" + net.JoinHostPort(loopback, strconv.Itoa(c.layout.rest[index]))
	client := restClient{http: c.http, url: url}
	name := jobManagerName(index)
	conf := c.layout.confDir(name)
	p := c.newProcess(JVM{
		Name: name, Class: SessionClass, ConfDir: conf, Args: []string{"--configDir", conf, "--executionMode", "cluster"},
	})
	p.ready = func(ctx context.Context, _ *child.Process) (string, bool) { return answers(ctx, client) }
	p.url = url
	return p
}

// answers looks whether a JobManager's REST API works. Before an HA pair has a leader, requests hang; another one a
// moment later does not.
func answers(ctx context.Context, client restClient) (state string, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := client.do(ctx, restRequest{method: http.MethodGet, path: "/config"}, nil); err != nil {
		return err.Error(), false
	}
	return "", true
}

// newTaskManager adds one to the cluster without starting it. Ready is a TaskManager whose own log says so: the overview
// would still count one that was just killed.
func (c *Cluster) newTaskManager() (*Process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errors.New("the cluster is closed") // nobody would end it
	}
	conf := c.layout.confDir(taskManagerConf)
	p := c.newProcess(JVM{
		Name: fmt.Sprintf("taskmanager-%d", len(c.taskManagers)), Class: TaskManagerClass, ConfDir: conf, Args: []string{"--configDir", conf},
	})
	p.ready = func(_ context.Context, p *child.Process) (string, bool) {
		return "not registered at a JobManager", p.Wrote(registered)
	}
	c.taskManagers = append(c.taskManagers, p)
	return p, nil
}

// registered is what a TaskManager's log says when a JobManager has taken it.
const registered = "Successful registration at resource manager"

// newProcess fills in what is the same for all processes.
func (c *Cluster) newProcess(j JVM) *Process {
	j.Dir = c.layout.dir
	return &Process{timeout: c.options.WaitTimeout, child: child.New(c.dist.Command(j))}
}

func (c *Cluster) awaitAloud(ctx context.Context, p *Process) error {
	if err := p.await(ctx); err != nil {
		return err
	}
	c.say("%s is up (pid %d)", p.Name(), p.PID())
	return nil
}

// awaitTogether fails as soon as one of the processes does: the others could wait for that one for minutes.
func (c *Cluster) awaitTogether(ctx context.Context, processes []*Process) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan error, len(processes))
	for _, p := range processes {
		go func() { results <- c.awaitAloud(ctx, p) }()
	}
	var first error
	for range processes {
		if err := <-results; err != nil && first == nil {
			first = err
			cancel()
		}
	}
	return first
}

func (c *Cluster) say(format string, args ...any) {
	took := time.Since(c.started).Round(100 * time.Millisecond)
	c.saying.Lock()
	defer c.saying.Unlock()
	fmt.Fprintf(c.options.Log, "flink %s: %s after %s\n", c.options.Version, fmt.Sprintf(format, args...), took)
}

// Version is the Flink version.
func (c *Cluster) Version() string { return c.options.Version }

// Dir is the cluster's folder: conf, log, checkpoints.
func (c *Cluster) Dir() string { return c.layout.dir }

// URL is the REST address of the first JobManager that is alive, or of the first when none is. Any JobManager of an HA
// cluster passes requests on to the leader.
func (c *Cluster) URL() string {
	for _, p := range c.jobManagers {
		if p.Alive() {
			return p.URL()
		}
	}
	return c.jobManagers[0].URL()
}

func (c *Cluster) rest() restClient { return restClient{http: c.http, url: c.URL()} }

// URLs are the REST addresses of all JobManagers, alive or not.
func (c *Cluster) URLs() []string {
	var urls []string
	for _, p := range c.jobManagers {
		urls = append(urls, p.URL())
	}
	return urls
}

// JobManagers are one, or two with HA.
func (c *Cluster) JobManagers() []*Process { return slices.Clone(c.jobManagers) }

// TaskManagers are all that were ever added, alive or not.
func (c *Cluster) TaskManagers() []*Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.taskManagers)
}

// ZooKeeper is nil without HA.
func (c *Cluster) ZooKeeper() *Process { return c.zookeeper }

// AddTaskManager starts one more TaskManager and returns when it is registered.
func (c *Cluster) AddTaskManager(ctx context.Context) (*Process, error) {
	p, err := c.newTaskManager()
	if err != nil {
		return nil, fmt.Errorf("add a TaskManager: %w", err)
	}
	if err := p.child.Launch(); err != nil {
		return nil, err
	}
	if err := c.awaitAloud(ctx, p); err != nil {
		return nil, err
	}
	return p, nil
}

// Leader waits until a JobManager that is alive leads, by what its log says last, and returns it.
func (c *Cluster) Leader(ctx context.Context) (*Process, error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.WaitTimeout)
	defer cancel()
	var leader *Process
	err := child.WaitFor(ctx, "a leader", func(context.Context) (string, bool, error) {
		found := slices.IndexFunc(c.jobManagers, func(p *Process) bool { return p.Alive() && leads(p.LogFile()) })
		if found < 0 {
			return "no JobManager leads", false, nil
		}
		leader = c.jobManagers[found]
		return "", true, nil
	})
	return leader, err
}

// leads reads Flink's words for winning and losing, which are the same from 1.18 to 2.3.
func leads(logFile string) bool {
	content, err := os.ReadFile(logFile)
	if err != nil {
		return false
	}
	won := bytes.LastIndex(content, []byte("DefaultDispatcherRunner was granted leadership"))
	lost := bytes.LastIndex(content, []byte("DefaultDispatcherRunner was revoked the leadership"))
	return won > lost
}

// Close ends all processes for good, stopped ones too, and removes the cluster's folder unless it is to be kept. Closing
// again does nothing.
func (c *Cluster) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	processes := slices.Concat(c.taskManagers, c.jobManagers)
	c.mu.Unlock()
	if c.zookeeper != nil {
		processes = append(processes, c.zookeeper)
	}
	problems := killAll(processes)
	c.http.CloseIdleConnections()
	if !c.options.KeepDir {
		problems = append(problems, os.RemoveAll(c.layout.dir))
	}
	return errors.Join(problems...)
}

// killAll kills side by side, so that no process is still busy with the loss of another.
func killAll(processes []*Process) []error {
	problems := make([]error, len(processes))
	var killed sync.WaitGroup
	for i, p := range processes {
		killed.Go(func() { problems[i] = p.child.End() })
	}
	killed.Wait()
	return problems
}
