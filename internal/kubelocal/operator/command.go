package operator

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"flinkscaler/internal/child"
	"flinkscaler/internal/toolcache"
)

const mainClass = "org.apache.flink.kubernetes.operator.FlinkOperator"

// logging goes to the output, a line for each event.
const logging = `rootLogger.level = INFO
rootLogger.appenderRef.console.ref = console
appender.console.name = console
appender.console.type = CONSOLE
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss.SSS} %-5level %c{1}%notEmpty{ [%X{resource.namespace}/%X{resource.name}]} %msg%n%throwable
`

// configuration is the operator's. Its waits are short: by default it looks at a resource once a minute.
func configuration(dir string, healthPort int, own map[string]string) map[string]string {
	config := map[string]string{
		"parallelism.default":                                  "1",
		"kubernetes.operator.reconcile.interval":               "5 s",
		"kubernetes.operator.observer.progress-check.interval": "2 s",
		"kubernetes.operator.observer.rest-ready.delay":        "1 s",
		"kubernetes.operator.retry.initial.interval":           "1 s",
		"kubernetes.operator.leader-election.enabled":          "false",
		"kubernetes.operator.health.probe.enabled":             "true",
		"kubernetes.operator.health.probe.port":                strconv.Itoa(healthPort),
		"kubernetes.operator.exception.stacktrace.enabled":     "false",
		"kubernetes.operator.user.artifacts.base.dir":          filepath.Join(dir, "artifacts"),
		// By default it does five things in 15 s, and an upgrade stands still in between.
		"kubernetes.operator.rate-limiter.limit":          "100",
		"kubernetes.operator.rate-limiter.refresh-period": "1 s",
	}
	maps.Copy(config, own)
	return config
}

func writeFiles(dir string, config map[string]string) error {
	for _, name := range []string{"conf", "tmp", "log", "plugins", "artifacts"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return err
		}
	}
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(config)) {
		fmt.Fprintf(&text, "%s: %s\n", key, config[key])
	}
	if err := os.WriteFile(filepath.Join(dir, "conf", "flink-conf.yaml"), []byte(text.String()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "conf", "log4j.properties"), []byte(logging), 0o644)
}

// command is how to run the operator. Without the variable KUBERNETES_SERVICE_HOST it takes itself for outside of a cluster,
// and reaches JobManagers on loopback. It leaves files in its temporary folder for ever.
func command(dir, path, kubeconfig string) child.Command {
	java := "java"
	if home := os.Getenv("JAVA_HOME"); home != "" {
		java = filepath.Join(home, "bin", "java")
	}
	conf := filepath.Join(dir, "conf")
	return child.Command{
		Name: "flink-operator", Path: "env", Dir: dir, LogDir: filepath.Join(dir, "log"),
		Args: []string{
			"-u", "KUBERNETES_SERVICE_HOST", java,
			"-Xmx400m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
			"-Djava.io.tmpdir=" + filepath.Join(dir, "tmp"),
			"-Dlog4j.configurationFile=file:" + filepath.Join(conf, "log4j.properties"),
			"-cp", path, mainClass,
		},
		Env: []string{
			"KUBECONFIG=" + kubeconfig, "FLINK_CONF_DIR=" + conf, "FLINK_PLUGINS_DIR=" + filepath.Join(dir, "plugins"),
			"OPERATOR_NAMESPACE=default", "OPERATOR_NAME=flink-kubernetes-operator", "HOSTNAME=flink-operator",
		},
	}
}

// classPath puts first the jars that carry newer copies of Flink's classes than Flink's own jars, in the order in which the
// operator's image has them.
func classPath(jars string) (string, error) {
	all, err := filepath.Glob(filepath.Join(jars, "*.jar"))
	if err != nil {
		return "", err
	}
	var path []string
	for _, name := range []string{"flink-kubernetes-standalone", "flink-kubernetes-operator", "flink-autoscaler", "flink-kubernetes-operator-api"} {
		jar := filepath.Join(jars, name+"-"+toolcache.OperatorVersion+".jar")
		if !slices.Contains(all, jar) {
			return "", fmt.Errorf("class path of %s: no %s", jars, filepath.Base(jar))
		}
		path = append(path, jar)
	}
	for _, jar := range all {
		if !slices.Contains(path, jar) {
			path = append(path, jar)
		}
	}
	return strings.Join(path, string(filepath.ListSeparator)), nil
}
