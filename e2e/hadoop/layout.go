package hadoop

import (
	"os"
	"path/filepath"
	"strconv"
)

// host is the only one that anything here listens on. By name: that is how the servers call each other.
const host = "localhost"

// Folders of a cluster.
const (
	confName      = "conf"
	tmpName       = "tmp"
	logName       = "log"
	localName     = "containers" // the NodeManager's working folders of containers
	containerLogs = "container-logs"
	sharedName    = "shared-edits"
)

// nameService is what HDFS is called when it has two NameNodes.
const nameService = "testfs"

// nameNode is where one NameNode listens.
type nameNode struct {
	id        string // nn1, nn2
	rpc, http int
}

// resourceManager is where one ResourceManager listens.
type resourceManager struct {
	id                                         string // rm1, rm2
	client, scheduler, tracker, admin, webPort int
}

// dataNode and nodeManager are where the only ones listen.
type dataNode struct{ data, http, ipc int }

type nodeManager struct{ address, localizer, web int }

// layout is where one cluster keeps its files, and its ports.
type layout struct {
	dir              string
	nameNodes        []nameNode
	resourceManagers []resourceManager
	dataNode         dataNode
	nodeManager      nodeManager
	zooKeeper        int
}

// newLayout makes the cluster's folder and picks its ports.
func newLayout(o Options) (layout, error) {
	const most = 2*2 + 2*5 + 3 + 3 + 1
	ports, err := freePorts(most)
	if err != nil {
		return layout{}, err
	}
	next := func() int {
		port := ports[0]
		ports = ports[1:]
		return port
	}
	var l layout
	for i := range count(o.NameNodeHA) {
		l.nameNodes = append(l.nameNodes, nameNode{id: "nn" + strconv.Itoa(i+1), rpc: next(), http: next()})
	}
	l.dataNode = dataNode{data: next(), http: next(), ipc: next()}
	if o.YARN {
		for i := range count(o.ResourceManagerHA) {
			l.resourceManagers = append(l.resourceManagers, resourceManager{
				id: "rm" + strconv.Itoa(i+1), client: next(), scheduler: next(), tracker: next(), admin: next(), webPort: next(),
			})
		}
		l.nodeManager = nodeManager{address: next(), localizer: next(), web: next()}
	}
	if o.needsZooKeeper() {
		l.zooKeeper = next()
	}
	if l.dir, err = os.MkdirTemp(o.Dir, "hadoop-"+o.Version+"-"); err != nil {
		return layout{}, err
	}
	if l.dir, err = filepath.Abs(l.dir); err != nil {
		return layout{}, err
	}
	return l, nil
}

func count(two bool) int {
	if two {
		return 2
	}
	return 1
}

func (l layout) path(name string) string { return filepath.Join(l.dir, name) }

func (l layout) fileURL(name string) string { return "file://" + filepath.ToSlash(l.path(name)) }

// defaultFS is how clients call HDFS.
func (l layout) defaultFS() string {
	if len(l.nameNodes) > 1 {
		return "hdfs://" + nameService
	}
	return "hdfs://" + address(l.nameNodes[0].rpc)
}

// pairs are the servers that come in pairs, each with what says which it is. A server cannot tell by its host, since
// both have the same.
func (l layout) pairs() map[string]map[string]string {
	own := map[string]map[string]string{}
	if len(l.nameNodes) > 1 {
		for _, n := range l.nameNodes {
			own[n.id] = map[string]string{"dfs.ha.namenode.id": n.id}
		}
	}
	if len(l.resourceManagers) > 1 {
		for _, rm := range l.resourceManagers {
			own[rm.id] = map[string]string{"yarn.resourcemanager.ha.id": rm.id}
		}
	}
	return own
}

// confDir is the configuration of a server: of a pair, each has its own.
func (l layout) confDir(id string) string {
	if _, paired := l.pairs()[id]; paired {
		return l.path(confName + "-" + id)
	}
	return l.path(confName)
}

func address(port int) string { return host + ":" + strconv.Itoa(port) }
