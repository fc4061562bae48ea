package flinklocal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"flinkscaler/internal/child"
)

// Main classes.
const (
	// SessionClass is a JobManager that takes jobs.
	SessionClass = "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"
	// ApplicationClass is a JobManager that runs one job from its own class path.
	ApplicationClass = "org.apache.flink.container.entrypoint.StandaloneApplicationClusterEntryPoint"
	// TaskManagerClass is a TaskManager.
	TaskManagerClass = "org.apache.flink.runtime.taskexecutor.TaskManagerRunner"

	zooKeeperClass = "org.apache.flink.runtime.zookeeper.FlinkZooKeeperQuorumPeer"
)

// Names of processes and of the folders with their configuration. All TaskManagers share one.
const (
	zooKeeperName   = "zookeeper"
	taskManagerConf = "taskmanager"
)

func jobManagerName(index int) string { return fmt.Sprintf("jobmanager-%d", index) }

// JVM says which of Flink's programs to run, and where.
type JVM struct {
	// Name is for people and for the names of log files.
	Name string
	// Class is the main class. It decides how much memory there is.
	Class string
	// Args are the arguments of the main class.
	Args []string
	// Jars are put on the class path behind Flink's own.
	Jars []string
	// ConfDir holds the configuration, see WriteConfig.
	ConfDir string
	// Dir is the working folder. Temporary files go into tmp and logs into log below it, which must be there.
	Dir string
	// Env is added to the environment.
	Env []string
}

// Command is how to run it.
func (d Distribution) Command(j JVM) child.Command {
	args := append(memoryArguments(j.Class), jvmArguments(d, j.Dir)...)
	path := strings.Join(append([]string{d.classpath}, j.Jars...), string(os.PathListSeparator))
	args = append(args, "-cp", path, j.Class)
	return child.Command{
		Name: j.Name, Path: javaCommand(), Args: append(args, j.Args...), LogArgs: logArguments,
		Env: append(environment(d, j.ConfDir), j.Env...), Dir: j.Dir, LogDir: filepath.Join(j.Dir, logName),
	}
}

// memoryArguments: a TaskManager's heap and direct memory cover what MemoryConfig gives out.
func memoryArguments(class string) []string {
	switch class {
	case TaskManagerClass:
		return []string{"-Xmx256m", "-XX:MaxDirectMemorySize=128m", "-XX:MaxMetaspaceSize=128m"}
	case zooKeeperClass:
		return []string{"-Xmx128m"}
	default:
		return []string{"-Xmx400m", "-XX:MaxMetaspaceSize=160m"}
	}
}

// jvmArguments are common to all processes: quick to start and small before fast, since a start costs seconds of CPU
// and many JVMs share the machine. Temporary files stay in the process's folder, so that a kill leaves nothing behind.
func jvmArguments(d Distribution, dir string) []string {
	arguments := []string{
		"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xms64m",
		"-Djava.io.tmpdir=" + filepath.Join(dir, "tmp"),
		"-Dlog4j.configurationFile=file:" + filepath.Join(d.home, "conf", "log4j.properties"),
	}
	return append(arguments, d.opens...)
}

// logArguments name the file that log4j.properties writes to.
func logArguments(file string) []string { return []string{"-Dlog.file=" + file} }

// environment is what Flink's scripts would set.
func environment(d Distribution, confDir string) []string {
	return []string{
		"FLINK_CONF_DIR=" + confDir,
		"FLINK_LIB_DIR=" + filepath.Join(d.home, "lib"),
		"FLINK_PLUGINS_DIR=" + filepath.Join(d.home, "plugins"),
	}
}
