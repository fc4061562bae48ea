package flinklocal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"flinkscaler/internal/toolcache"
)

// Distribution is an unpacked Flink, as far as it is needed to run its programs.
type Distribution struct {
	home      string
	version   toolcache.Version
	classpath string
	// opens are the JVM options in the shipped configuration that open JDK packages to Flink. They differ by version.
	opens []string
}

// OpenDistribution reads what is unpacked in a folder.
func OpenDistribution(home string) (Distribution, error) {
	classpath, err := classpathOf(home)
	if err != nil {
		return Distribution{}, err
	}
	named, err := versionOf(home)
	if err != nil {
		return Distribution{}, err
	}
	version, err := toolcache.ParseVersion(named)
	if err != nil {
		return Distribution{}, err
	}
	shipped, err := shippedConfig(home)
	if err != nil {
		return Distribution{}, err
	}
	return Distribution{home: home, version: version, classpath: classpath, opens: javaOptions(shipped)}, nil
}

// WriteConfig writes a configuration of flat keys into a folder, in the form that this version reads.
func (d Distribution) WriteConfig(dir string, config map[string]string) error {
	name, content := renderConfig(d.version, config)
	return writeFile(filepath.Join(dir, name), content)
}

// versionOf reads the version from the name of the flink-dist jar.
func versionOf(home string) (string, error) {
	dist, err := distJar(home)
	if err != nil {
		return "", err
	}
	name := strings.TrimSuffix(filepath.Base(dist), ".jar")
	return strings.TrimPrefix(name, "flink-dist-"), nil
}

func distJar(home string) (string, error) {
	found, err := filepath.Glob(filepath.Join(home, "lib", "flink-dist-*.jar"))
	if err != nil {
		return "", err
	}
	if len(found) != 1 {
		return "", fmt.Errorf("find flink-dist in %s: %d jars, want one", filepath.Join(home, "lib"), len(found))
	}
	return found[0], nil
}

// classpathOf puts flink-dist last, as Flink's scripts do: jars beside it may replace classes of it.
func classpathOf(home string) (string, error) {
	dist, err := distJar(home)
	if err != nil {
		return "", err
	}
	jars, err := filepath.Glob(filepath.Join(home, "lib", "*.jar"))
	if err != nil {
		return "", err
	}
	jars = slices.DeleteFunc(jars, func(jar string) bool { return jar == dist })
	return strings.Join(append(jars, dist), string(os.PathListSeparator)), nil
}

// shippedConfig reads conf/config.yaml, which Flink 1.18 calls flink-conf.yaml.
func shippedConfig(home string) (string, error) {
	content, err := os.ReadFile(filepath.Join(home, "conf", "config.yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		content, err = os.ReadFile(filepath.Join(home, "conf", legacyConfigName))
	}
	if err != nil {
		return "", fmt.Errorf("read configuration of %s: %w", home, err)
	}
	return string(content), nil
}

// javaOptions finds env.java.opts.all in a shipped configuration, in its nested or its flat form.
func javaOptions(config string) []string {
	line := regexp.MustCompile(`(?m)^\s*(?:env\.java\.opts\.)?all:\s*"?([^"\n]*)"?\s*$`).FindStringSubmatch(config)
	if line == nil {
		return nil
	}
	return strings.Fields(line[1])
}

// javaCommand is the java of JAVA_HOME, or else of the PATH.
func javaCommand() string {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		return filepath.Join(home, "bin", "java")
	}
	return "java"
}

// Opens are the JVM options with which this version opens packages of the JDK to itself.
func (d Distribution) Opens() []string { return slices.Clone(d.opens) }
