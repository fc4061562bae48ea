package hadoop

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// javaHome is JAVA_HOME, or else where the java of the PATH is: the NodeManager hands it to containers, which have no
// PATH of ours.
func javaHome() (string, error) {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		return home, nil
	}
	command, err := exec.LookPath("java")
	if err != nil {
		return "", fmt.Errorf("find java: %w", err)
	}
	command, err = filepath.EvalSymlinks(command)
	if err != nil {
		return "", fmt.Errorf("find java: %w", err)
	}
	return filepath.Dir(filepath.Dir(command)), nil
}

// jvmFlags are those of every JVM of Hadoop: small before fast, since a start costs seconds of CPU and many share the
// machine. Temporary files stay in the cluster's folder, so that a kill leaves nothing behind.
func (c *Cluster) jvmFlags() []string {
	flags := []string{
		"-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
		"-Djava.net.preferIPv4Stack=true", "-Djava.io.tmpdir=" + c.layout.path(tmpName),
		"--add-opens=java.base/java.lang=ALL-UNNAMED", // Guice in the servers of YARN needs it
	}
	return append(flags, c.options.Security.JVM...)
}

// javaArgs is the command line of one of Hadoop's main classes.
func (c *Cluster) javaArgs(conf, class string, args ...string) []string {
	path := conf + string(os.PathListSeparator) + filepath.Join(c.machine.dist.Daemons, "*")
	return append(append(c.jvmFlags(), "-cp", path, class), args...)
}
