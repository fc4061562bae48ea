package hadoop

import (
	"encoding/xml"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// properties are the entries of one configuration file.
type properties map[string]string

// with is the entries of all, of which later ones win.
func with(all ...map[string]string) properties {
	joined := properties{}
	for _, p := range all {
		maps.Copy(joined, p)
	}
	return joined
}

// xml is the file that Hadoop reads, sorted by name.
func (p properties) xml() string {
	var text strings.Builder
	text.WriteString("<?xml version=\"1.0\"?>\n<configuration>\n")
	for _, name := range slices.Sorted(maps.Keys(p)) {
		text.WriteString("  <property><name>" + escape(name) + "</name><value>" + escape(p[name]) + "</value></property>\n")
	}
	text.WriteString("</configuration>\n")
	return text.String()
}

func escape(text string) string {
	var escaped strings.Builder
	_ = xml.EscapeText(&escaped, []byte(text)) // a Builder takes everything
	return escaped.String()
}

// files are all configuration files of a cluster, by name. Of a pair of servers each reads files of its own, which differ
// in own: that says which of the pair it is.
func files(o Options, l layout, m machine, own map[string]string) map[string]string {
	s := o.Security
	all := map[string]string{
		"core-site.xml":    with(coreSite(l, m), o.Core, s.Core).xml(),
		"hdfs-site.xml":    with(hdfsSite(l), o.HDFS, s.HDFS, own).xml(),
		"log4j.properties": log4j(o.LogLevel),
	}
	if o.YARN {
		all["yarn-site.xml"] = with(yarnSite(o, l, m), o.YARNSite, s.YARNSite, own).xml()
		all["capacity-scheduler.xml"] = with(capacityScheduler(), o.Scheduler, s.Scheduler).xml()
		all["fair-scheduler.xml"] = fairScheduler(o)
	}
	if o.needsZooKeeper() {
		all["zoo.cfg"] = zooKeeperConfig(l)
	}
	return all
}

// writeFiles writes the configuration and makes the folders.
func (c *Cluster) writeFiles() error {
	for _, dir := range []string{tmpName, logName, localName, containerLogs, zooKeeperName} {
		if err := os.MkdirAll(c.layout.path(dir), 0o755); err != nil {
			return err
		}
	}
	if err := c.writeConf(c.ConfDir(), nil); err != nil {
		return err
	}
	for id, own := range c.layout.pairs() {
		if err := c.writeConf(c.layout.confDir(id), own); err != nil {
			return err
		}
	}
	return nil
}

// writeConf fills one folder that a server is given as its configuration.
func (c *Cluster) writeConf(dir string, own map[string]string) error {
	// The plain jar of HDFS lacks the folders of its web pages; without them no server starts.
	for _, pages := range []string{"hdfs", "datanode", "journal", "static"} {
		if err := os.MkdirAll(filepath.Join(dir, "webapps", pages), 0o755); err != nil {
			return err
		}
	}
	for name, content := range files(c.options, c.layout, c.machine, own) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func log4j(level string) string {
	return `log4j.rootLogger=` + level + `,out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.target=System.err
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d{ISO8601} %p %c{1}: %m%n
`
}

func zooKeeperConfig(l layout) string {
	return `tickTime=500
dataDir=` + filepath.ToSlash(l.path(zooKeeperName)) + `
clientPort=` + strconv.Itoa(l.zooKeeper) + `
clientPortAddress=127.0.0.1
admin.enableServer=false
maxClientCnxns=0
`
}
