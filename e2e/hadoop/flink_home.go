package hadoop

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flinkscaler/e2e/testjob"
	"flinkscaler/internal/flinklocal"
	"flinkscaler/internal/toolcache"
)

// FlinkOptions say what Flink to put on the cluster.
type FlinkOptions struct {
	// Version is taken from the tool cache. Default: toolcache.Flink2.
	Version string
	// DefaultScheduler runs jobs under Flink's default scheduler. Default: the adaptive one.
	DefaultScheduler bool
	// HA keeps the state of JobManagers in ZooKeeper and lets YARN start them up to four times. The cluster must have
	// ZooKeeper.
	HA bool
	// Options add entries to Flink's configuration, or replace them.
	Options map[string]string
}

// Flink is a Flink distribution that is ready to be run on the cluster.
type Flink struct {
	cluster *Cluster
	version toolcache.Version
	home    string
	options map[string]string
}

// Flink makes a home for a Flink version, and uploads its jars and the test job once. The home has what a job on YARN
// needs: scripts, a configuration that is small and quick, flink-dist and logging. It costs no space: jars are links.
func (c *Cluster) Flink(ctx context.Context, o FlinkOptions) (*Flink, error) {
	setDefault(&o.Version, toolcache.Flink2)
	f, err := c.flink(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("put flink %s on hadoop: %w", o.Version, err)
	}
	return f, nil
}

func (c *Cluster) flink(ctx context.Context, o FlinkOptions) (*Flink, error) {
	version, err := toolcache.ParseVersion(o.Version)
	if err != nil {
		return nil, err
	}
	cache, err := toolcache.Open()
	if err != nil {
		return nil, err
	}
	full, err := cache.FindFlinkHome(o.Version)
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp(c.layout.dir, "flink-home-"+o.Version+"-")
	if err != nil {
		return nil, err
	}
	f := &Flink{cluster: c, version: version, home: home}
	if err := slimHome(full, home); err != nil {
		return nil, err
	}
	dist, err := flinklocal.OpenDistribution(full)
	if err != nil {
		return nil, err
	}
	f.options = f.config(o, dist.Opens())
	if err := dist.WriteConfig(f.ConfDir(), f.options); err != nil {
		return nil, err
	}
	return f, c.upload(ctx, o.Version, home)
}

// slimHome has the scripts and the configuration as copies, since a script looks for its home behind links, and of the
// jars those that a job needs, as links.
func slimHome(full, home string) error {
	for _, dir := range []string{"bin", "conf"} {
		if err := os.CopyFS(filepath.Join(home, dir), os.DirFS(filepath.Join(full, dir))); err != nil {
			return err
		}
	}
	jars, err := filepath.Glob(filepath.Join(full, "lib", "*.jar"))
	if err != nil {
		return err
	}
	jars = slices.DeleteFunc(jars, func(jar string) bool {
		name := filepath.Base(jar)
		return !strings.HasPrefix(name, "flink-dist-") && !strings.HasPrefix(name, "log4j-")
	})
	return link(filepath.Join(home, "lib"), jars...)
}

func link(dir string, files ...string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, file := range files {
		if err := os.Symlink(file, filepath.Join(dir, filepath.Base(file))); err != nil {
			return err
		}
	}
	return nil
}

// upload puts jars into HDFS where yarn.provided.lib.dirs names them, once for each version.
func (c *Cluster) upload(ctx context.Context, version, home string) error {
	c.uploading.Lock()
	defer c.uploading.Unlock()
	if c.uploaded[version] {
		return nil
	}
	job, err := testjob.Jar()
	if err != nil {
		return err
	}
	staged := c.layout.path("flink-" + version)
	jars, err := filepath.Glob(filepath.Join(home, "lib", "*.jar"))
	if err != nil {
		return err
	}
	if err := link(filepath.Join(staged, "lib"), jars...); err != nil {
		return err
	}
	if err := os.Symlink(job, filepath.Join(staged, jobFile)); err != nil {
		return err
	}
	if _, err := c.FS(ctx, "-put", staged, "/"); err != nil {
		return err
	}
	c.uploaded[version] = true
	c.say("flink %s is uploaded", version)
	return nil
}

// jobFile is the name of the test job's jar in HDFS.
const jobFile = "testjob.jar"

// Home is the FLINK_HOME.
func (f *Flink) Home() string { return f.home }

// ConfDir is its FLINK_CONF_DIR.
func (f *Flink) ConfDir() string { return filepath.Join(f.home, "conf") }

// Command is the path of Flink's command line.
func (f *Flink) Command() string { return filepath.Join(f.home, "bin", "flink") }

// Version is that of Flink.
func (f *Flink) Version() string { return f.version.String() }

// Env is what the command line needs in its environment, besides what is there. Who logs in to a secured cluster is
// among Flink's options: security.kerberos.login.principal and security.kerberos.login.keytab.
func (f *Flink) Env() []string {
	c := f.cluster
	flags := append([]string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Djava.io.tmpdir=" + c.layout.path(tmpName)}, c.options.Security.JVM...)
	return []string{
		"FLINK_CONF_DIR=" + f.ConfDir(),
		"FLINK_LOG_DIR=" + c.layout.path(logName),
		"HADOOP_CONF_DIR=" + c.ConfDir(),
		"YARN_CONF_DIR=" + c.ConfDir(),
		"HADOOP_CLASSPATH=" + c.ClassPath(),
		"HADOOP_USER_NAME=" + c.User(),
		"JAVA_HOME=" + c.machine.javaHome,
		"JVM_ARGS=" + strings.Join(flags, " "),
	}
}

// Options are the entries of its configuration, which its command line ships with each application.
func (f *Flink) Options() map[string]string { return maps.Clone(f.options) }

// Jar is where the test job's jar is in HDFS.
func (f *Flink) Jar() string { return f.cluster.DefaultFS() + "/flink-" + f.Version() + "/" + jobFile }

// Libs is where Flink's jars are in HDFS.
func (f *Flink) Libs() string { return f.cluster.DefaultFS() + "/flink-" + f.Version() + "/lib" }

// Savepoints is where savepoints go by default, Checkpoints where checkpoints go.
func (f *Flink) Savepoints() string { return f.cluster.DefaultFS() + "/savepoints" }

// Checkpoints is where checkpoints go.
func (f *Flink) Checkpoints() string { return f.cluster.DefaultFS() + "/checkpoints" }
