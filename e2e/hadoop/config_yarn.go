package hadoop

import (
	"maps"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	capacityClass = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler"
	fairClass     = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler"
	storePackage  = "org.apache.hadoop.yarn.server.resourcemanager.recovery."
)

// yarnSite lets the loss of a NodeManager be seen within 20 s. The limits fit some eight TaskManagers of 768 MB.
func yarnSite(o Options, l layout, m machine) map[string]string {
	site := map[string]string{
		"yarn.resourcemanager.bind-host": "127.0.0.1",
		// 30 s otherwise: a NodeManager that is up before its ResourceManager would wait so long.
		"yarn.resourcemanager.connect.retry-interval.ms":                                "500",
		"yarn.resourcemanager.nodemanagers.heartbeat-interval-ms":                       "200",
		"yarn.resourcemanager.am.max-attempts":                                          "2",
		"yarn.resourcemanager.recovery.enabled":                                         "true",
		"yarn.am.liveness-monitor.expiry-interval-ms":                                   "60000", // a busy machine starves a JobManager for long; one that dies is noticed by its exit
		"yarn.nm.liveness-monitor.expiry-interval-ms":                                   "20000",
		"yarn.resourcemanager.application-timeouts.monitor.interval-ms":                 "1000",
		"yarn.scheduler.minimum-allocation-mb":                                          "128",
		"yarn.scheduler.maximum-allocation-mb":                                          "4096",
		"yarn.scheduler.maximum-allocation-vcores":                                      "8",
		"yarn.nodemanager.hostname":                                                     host,
		"yarn.nodemanager.bind-host":                                                    "127.0.0.1",
		"yarn.nodemanager.address":                                                      address(l.nodeManager.address),
		"yarn.nodemanager.localizer.address":                                            address(l.nodeManager.localizer),
		"yarn.nodemanager.webapp.address":                                               address(l.nodeManager.web),
		"yarn.nodemanager.resource.memory-mb":                                           strconv.Itoa(o.NodeMemory),
		"yarn.nodemanager.resource.cpu-vcores":                                          strconv.Itoa(o.NodeCores),
		"yarn.nodemanager.vmem-check-enabled":                                           "false",
		"yarn.nodemanager.pmem-check-enabled":                                           "false",
		"yarn.nodemanager.local-dirs":                                                   l.path(localName),
		"yarn.nodemanager.log-dirs":                                                     l.path(containerLogs),
		"yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "100",
		"yarn.nodemanager.disk-health-checker.min-free-space-per-disk-mb":               "0",
		"yarn.nodemanager.delete.debug-delay-sec":                                       "600", // logs of containers stay to be looked at
		"yarn.nodemanager.env-whitelist":                                                "JAVA_HOME,HADOOP_CONF_DIR",
		"yarn.nodemanager.admin-env":                                                    "JAVA_HOME=" + m.javaHome,
		"yarn.node-attribute.fs-store.root-dir":                                         l.fileURL("node-attributes"),
		"yarn.log-aggregation-enable":                                                   "false",
		"yarn.application.classpath":                                                    strings.Join(append([]string{l.path(confName)}, clientJars(m)...), ","),
		"yarn.resourcemanager.scheduler.class":                                          capacityClass,
		"yarn.scheduler.fair.allocation.file":                                           filepath.Join(l.path(confName), "fair-scheduler.xml"),
	}
	if o.Fair {
		site["yarn.resourcemanager.scheduler.class"] = fairClass
	}
	if l.zooKeeper != 0 {
		site["hadoop.zk.address"] = address(l.zooKeeper)
	}
	if len(l.resourceManagers) == 1 {
		maps.Copy(site, loneResourceManager(l))
	} else {
		maps.Copy(site, resourceManagerPair(l))
	}
	return site
}

// loneResourceManager keeps its applications in a folder, so that they outlive it.
func loneResourceManager(l layout) map[string]string {
	site := addresses(l.resourceManagers[0], "")
	site["yarn.resourcemanager.store.class"] = storePackage + "FileSystemRMStateStore"
	site["yarn.resourcemanager.fs.state-store.uri"] = l.fileURL("rmstore")
	return site
}

// resourceManagerPair keeps them in ZooKeeper, which also says which of the two is active.
func resourceManagerPair(l layout) map[string]string {
	site := map[string]string{
		"yarn.resourcemanager.ha.enabled":                    "true",
		"yarn.resourcemanager.ha.automatic-failover.enabled": "true",
		"yarn.resourcemanager.cluster-id":                    "testyarn",
		"yarn.resourcemanager.store.class":                   storePackage + "ZKRMStateStore",
		"yarn.resourcemanager.zk-address":                    address(l.zooKeeper),
		"yarn.resourcemanager.zk-timeout-ms":                 "6000",
	}
	var ids []string
	for _, rm := range l.resourceManagers {
		ids = append(ids, rm.id)
		maps.Copy(site, addresses(rm, "."+rm.id))
	}
	site["yarn.resourcemanager.ha.rm-ids"] = strings.Join(ids, ",")
	return site
}

// addresses of a ResourceManager; of two, each name has the id behind it.
func addresses(rm resourceManager, suffix string) map[string]string {
	const prefix = "yarn.resourcemanager."
	return map[string]string{
		prefix + "hostname" + suffix:                 host,
		prefix + "address" + suffix:                  address(rm.client),
		prefix + "scheduler.address" + suffix:        address(rm.scheduler),
		prefix + "resource-tracker.address" + suffix: address(rm.tracker),
		prefix + "admin.address" + suffix:            address(rm.admin),
		prefix + "webapp.address" + suffix:           address(rm.webPort),
	}
}

// capacityScheduler has root.default, which may grow to all of the cluster, and root.small, which may not.
func capacityScheduler() map[string]string {
	const prefix = "yarn.scheduler.capacity."
	return map[string]string{
		prefix + "root.queues":                    "default,small",
		prefix + "root.default.capacity":          "70",
		prefix + "root.default.maximum-capacity":  "100",
		prefix + "root.default.user-limit-factor": "10",
		prefix + "root.small.capacity":            "30",
		prefix + "root.small.maximum-capacity":    "40",
		prefix + "maximum-am-resource-percent":    "1.0",
		prefix + "resource-calculator":            "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
	}
}

// fairScheduler has the same two queues. Left to itself it would put each application into a queue by its user's name.
func fairScheduler(o Options) string {
	share := func(percent int) string {
		return strconv.Itoa(o.NodeMemory*percent/100) + " mb, " + strconv.Itoa(max(1, o.NodeCores*percent/100)) + " vcores"
	}
	return `<?xml version="1.0"?>
<allocations>
  <defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy>
  <queue name="default"><weight>7</weight><maxResources>` + share(100) + `</maxResources></queue>
  <queue name="small"><weight>3</weight><maxResources>` + share(40) + `</maxResources></queue>
  <queuePlacementPolicy>
    <rule name="specified" create="false"/>
    <rule name="default" queue="root.default"/>
  </queuePlacementPolicy>
</allocations>
`
}

// clientJars are what a program needs to use HDFS and YARN.
func clientJars(m machine) []string {
	jars, _ := filepath.Glob(filepath.Join(m.dist.Client, "*.jar")) // the pattern is good
	return jars
}
