package toolcache

import "path/filepath"

// HadoopDist is where the jars of one Hadoop release are.
type HadoopDist struct {
	// Root is the folder of all of it.
	Root string
	// Daemons is a folder with the jars that the servers of HDFS, YARN and ZooKeeper run from.
	Daemons string
	// Client is a folder with the jars that a program needs to use them, Flink for one.
	Client string
}

// HadoopAt says where they are below a given folder.
func HadoopAt(root string) HadoopDist {
	return HadoopDist{Root: root, Daemons: filepath.Join(root, "daemons"), Client: filepath.Join(root, "client")}
}
