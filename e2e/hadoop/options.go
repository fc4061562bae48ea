package hadoop

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/user"
	"time"

	"flinkscaler/internal/child"
	"flinkscaler/internal/toolcache"
)

// EnvVersion names the environment variable with the release that is run when none is asked for.
const EnvVersion = "HADOOP_VERSION"

// Options say what cluster to run. The zero value is HDFS with one NameNode and one DataNode.
type Options struct {
	// Version is the Hadoop release to take from the tool cache. Default: that of the environment variable
	// HADOOP_VERSION, by which the same tests are run on another one, else toolcache.Hadoop.
	Version string

	// YARN adds a ResourceManager and a NodeManager.
	YARN bool
	// NameNodeHA runs two NameNodes, the first of which is active. See NameNode.Activate.
	NameNodeHA bool
	// ResourceManagerHA runs two ResourceManagers that fail over by themselves, and ZooKeeper.
	ResourceManagerHA bool
	// ZooKeeper runs ZooKeeper, for Flink's high availability.
	ZooKeeper bool

	// Fair makes YARN run the fair scheduler, with the same two queues. Default: the capacity scheduler.
	Fair bool
	// Scheduler adds entries to capacity-scheduler.xml, or replaces them. Queues are root.default, with up to all of the
	// cluster, and root.small, with up to 40 %.
	Scheduler map[string]string
	// NodeMemory is what the NodeManager gives to containers, in MB. Default 8192.
	NodeMemory int
	// NodeCores is how many virtual cores it gives. Default 16.
	NodeCores int
	// Core, HDFS and YARNSite add entries to core-site.xml, hdfs-site.xml and yarn-site.xml, or replace them.
	Core, HDFS, YARNSite map[string]string
	// Security is what a secured cluster has besides. Default: none, everybody may do everything.
	Security *Security

	// Dir is the folder in which the cluster makes a folder of its own. Default: the system's temporary folder.
	Dir string
	// KeepDir leaves that folder, with all logs, behind.
	KeepDir bool
	// Log receives a line for each step of starting up. Default: nowhere.
	Log io.Writer
	// LogLevel is that of the servers. Default INFO.
	LogLevel string
	// WaitTimeout bounds each wait for a server to be ready. Default 3 min: it takes seconds, unless everything else on
	// the machine starts as well.
	WaitTimeout time.Duration
}

// Security is one more source of configuration. Its entries win over all others.
type Security struct {
	// Core, HDFS and YARNSite are entries of the files of those names.
	Core, HDFS, YARNSite map[string]string
	// Scheduler are entries of capacity-scheduler.xml.
	Scheduler map[string]string
	// JVM are flags of every JVM of Hadoop, the servers and the command line tools, and of Flink's command line.
	JVM []string
	// Env is added to the environment of the former.
	Env []string
	// HTTP asks the servers' web addresses. Default: a plain client.
	HTTP *http.Client
}

func (o Options) withDefaults() (Options, error) {
	setDefault(&o.Version, os.Getenv(EnvVersion))
	setDefault(&o.Version, toolcache.Hadoop)
	setDefault(&o.NodeMemory, 8192)
	setDefault(&o.NodeCores, 16)
	setDefault(&o.Dir, os.TempDir())
	setDefault(&o.LogLevel, "INFO")
	setDefault(&o.WaitTimeout, 3*time.Minute)
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.Security == nil {
		o.Security = &Security{}
	}
	if o.Security.HTTP == nil {
		secured := *o.Security
		secured.HTTP = &http.Client{}
		o.Security = &secured
	}
	return o, o.validate()
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (o Options) validate() error {
	var problems []error
	if _, err := toolcache.ParseVersion(o.Version); err != nil {
		problems = append(problems, fmt.Errorf("Version: %w", err))
	}
	if o.NodeMemory < 0 || o.NodeCores < 0 {
		problems = append(problems, fmt.Errorf("NodeMemory and NodeCores: must be positive, got %d and %d", o.NodeMemory, o.NodeCores))
	}
	if o.ResourceManagerHA && !o.YARN {
		problems = append(problems, errors.New("ResourceManagerHA: needs YARN"))
	}
	return errors.Join(problems...)
}

func (o Options) needsZooKeeper() bool { return o.ZooKeeper || o.ResourceManagerHA }

// machine is what the cluster takes from where it runs.
type machine struct {
	dist     toolcache.HadoopDist
	java     string // the command
	javaHome string
	user     string // who runs all of it
}

func findMachine(version string) (machine, error) {
	cache, err := toolcache.Open()
	if err != nil {
		return machine{}, err
	}
	dist, err := cache.FindHadoop(version)
	if err != nil {
		return machine{}, err
	}
	home, err := javaHome()
	if err != nil {
		return machine{}, err
	}
	who, err := user.Current()
	if err != nil {
		return machine{}, err
	}
	return machine{dist: dist, java: home + "/bin/java", javaHome: home, user: who.Username}, nil
}

// freePorts is replaced by tests.
var freePorts = child.FreePorts //nolint:gochecknoglobals // see above
