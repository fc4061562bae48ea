package harness

import (
	"embed"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"flinkscaler/internal/toolcache"
)

const (
	// MainClass serves requests on standard input.
	MainClass = "flinkscaler.oracle.Main"
	// autoscalerJar must come first on the class path: it replaces classes of Flink with its own.
	autoscalerJar = "flink-autoscaler-1.10.0.jar"
	// Jar is the name of what is compiled from the sources.
	Jar = "oracle.jar"
)

//go:embed pom.xml src
var sources embed.FS

// Sources holds pom.xml and, below src, the Java files.
func Sources() fs.FS { return sources }

// Hash is a short hash of the harness: another source or dependency, another folder in the cache.
func Hash() (string, error) {
	hash, err := toolcache.HashFiles(sources)
	if err != nil {
		return "", fmt.Errorf("hash oracle sources: %w", err)
	}
	return hash, nil
}

// ClassPath is that of the built harness, the autoscaler first; toolcache.ErrMissing when it is not built.
func ClassPath() (string, error) {
	cache, err := toolcache.Open()
	if err != nil {
		return "", err
	}
	hash, err := Hash()
	if err != nil {
		return "", err
	}
	folder, err := cache.FindOracle(hash)
	if err != nil {
		return "", err
	}
	return JoinJars(folder)
}

// JoinJars makes the class path of a folder with jars.
func JoinJars(folder string) (string, error) {
	jars, err := filepath.Glob(filepath.Join(folder, "*.jar"))
	if err != nil {
		return "", err
	}
	first := filepath.Join(folder, autoscalerJar)
	if !slices.Contains(jars, first) {
		return "", fmt.Errorf("class path of %s: no %s", folder, autoscalerJar)
	}
	path := first
	for _, jar := range jars {
		if jar != first {
			path += string(filepath.ListSeparator) + jar
		}
	}
	return path, nil
}
