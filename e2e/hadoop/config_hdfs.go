package hadoop

import "strings"

// coreSite is what all of Hadoop reads.
func coreSite(l layout, m machine) map[string]string {
	return map[string]string{
		"fs.defaultFS":                   l.defaultFS(),
		"hadoop.tmp.dir":                 l.path(tmpName),
		"hadoop.http.staticuser.user":    m.user,
		"ipc.client.connect.max.retries": "3",
	}
}

// hdfsSite lets losses be seen within seconds. One DataNode holds the only replica.
func hdfsSite(l layout) map[string]string {
	site := map[string]string{
		"dfs.namenode.name.dir":                                     l.fileURL("name"),
		"dfs.datanode.data.dir":                                     l.fileURL("data"),
		"dfs.datanode.address":                                      address(l.dataNode.data),
		"dfs.datanode.http.address":                                 address(l.dataNode.http),
		"dfs.datanode.ipc.address":                                  address(l.dataNode.ipc),
		"dfs.datanode.hostname":                                     host,
		"dfs.namenode.datanode.registration.ip-hostname-check":      "false",
		"dfs.replication":                                           "1",
		"dfs.permissions.enabled":                                   "false",
		"dfs.namenode.safemode.extension":                           "0",
		"dfs.heartbeat.interval":                                    "1",
		"dfs.namenode.heartbeat.recheck-interval":                   "1000",
		"dfs.datanode.du.reserved":                                  "0",
		"dfs.namenode.resource.du.reserved":                         "1048576",
		"dfs.client.block.write.replace-datanode-on-failure.enable": "false",
	}
	if len(l.nameNodes) == 1 {
		site["dfs.namenode.rpc-address"] = address(l.nameNodes[0].rpc)
		site["dfs.namenode.http-address"] = address(l.nameNodes[0].http)
		return site
	}
	delete(site, "dfs.namenode.name.dir") // each has its own
	return with(site, nameNodePair(l))
}

// nameNodePair is what two NameNodes need. Their common edits lie in a folder of this machine, which needs no servers;
// nobody but a test makes one of them active.
func nameNodePair(l layout) map[string]string {
	site := map[string]string{
		"dfs.nameservices": nameService,
		"dfs.client.failover.proxy.provider." + nameService: "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider",
		"dfs.namenode.shared.edits.dir":                     l.fileURL(sharedName),
		"dfs.ha.fencing.methods":                            "shell(/bin/true)",
		"dfs.ha.automatic-failover.enabled":                 "false",
		"dfs.ha.tail-edits.period":                          "1",
		"dfs.ha.log-roll.period":                            "5",
		// Fifteen tries with growing waits are minutes for a client while no NameNode is active.
		"dfs.client.failover.max.attempts":     "8",
		"dfs.client.failover.sleep.max.millis": "2000",
	}
	var ids []string
	for _, n := range l.nameNodes {
		ids = append(ids, n.id)
		site["dfs.namenode.rpc-address."+nameService+"."+n.id] = address(n.rpc)
		site["dfs.namenode.http-address."+nameService+"."+n.id] = address(n.http)
		site["dfs.namenode.name.dir."+nameService+"."+n.id] = l.fileURL("name-" + n.id)
	}
	site["dfs.ha.namenodes."+nameService] = strings.Join(ids, ",")
	return site
}

// nameDir is the folder of one NameNode's image.
func (l layout) nameDir(n nameNode) string {
	if len(l.nameNodes) == 1 {
		return l.path("name")
	}
	return l.path("name-" + n.id)
}
