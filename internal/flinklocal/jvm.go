package flinklocal

import (
	"fmt"
	"path/filepath"
)

// Main classes.
const (
	jobManagerClass  = "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"
	taskManagerClass = "org.apache.flink.runtime.taskexecutor.TaskManagerRunner"
	zooKeeperClass   = "org.apache.flink.runtime.zookeeper.FlinkZooKeeperQuorumPeer"
)

// Names of processes and of the folders with their configuration. All TaskManagers share one.
const (
	zooKeeperName   = "zookeeper"
	taskManagerConf = "taskmanager"
)

func jobManagerName(index int) string { return fmt.Sprintf("jobmanager-%d", index) }

// jvmArguments are common to all processes: quick to start and small before fast, since a start costs seconds of CPU
// and many JVMs share the machine. Temporary files stay in the cluster's folder, so that a kill leaves nothing behind.
func jvmArguments(d distribution, l layout) []string {
	arguments := []string{
		"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xms64m",
		"-Djava.io.tmpdir=" + l.path("tmp"),
		"-Dlog4j.configurationFile=file:" + filepath.Join(d.home, "conf", "log4j.properties"),
	}
	return append(arguments, d.opens...)
}

// logArguments name the file that log4j.properties writes to.
func logArguments(file string) []string { return []string{"-Dlog.file=" + file} }

func jobManagerArguments(d distribution, l layout, index int) []string {
	arguments := append([]string{"-Xmx400m", "-XX:MaxMetaspaceSize=160m"}, jvmArguments(d, l)...)
	return append(arguments, "-cp", d.classpath, jobManagerClass,
		"--configDir", l.confDir(jobManagerName(index)), "--executionMode", "cluster")
}

// taskManagerArguments: heap and direct memory cover what memoryConfig gives out.
func taskManagerArguments(d distribution, l layout) []string {
	arguments := []string{"-Xmx256m", "-XX:MaxDirectMemorySize=128m", "-XX:MaxMetaspaceSize=128m"}
	arguments = append(arguments, jvmArguments(d, l)...)
	return append(arguments, "-cp", d.classpath, taskManagerClass, "--configDir", l.confDir(taskManagerConf))
}

func zooKeeperArguments(d distribution, l layout) []string {
	arguments := append([]string{"-Xmx128m"}, jvmArguments(d, l)...)
	return append(arguments, "-cp", d.classpath, zooKeeperClass,
		"--zkConfigFile", filepath.Join(l.confDir(zooKeeperName), "zoo.cfg"), "--peerId", "1")
}

// environment is what Flink's scripts would set.
func environment(d distribution, confDir string) []string {
	return []string{
		"FLINK_CONF_DIR=" + confDir,
		"FLINK_LIB_DIR=" + filepath.Join(d.home, "lib"),
		"FLINK_PLUGINS_DIR=" + filepath.Join(d.home, "plugins"),
	}
}
