package testjob

import (
	"embed"
	"fmt"
	"io/fs"

	"flinkscaler/internal/toolcache"
)

// MainClass is the class with the job's main method.
const MainClass = "flinkscaler.testjob.TestJob"

// Names of the job's operators. The source's vertex is "Source: gen", the last one "slow -> sink: Writer" ("slow -> Sink: sink" on 1.18).
const (
	SourceName = "gen"
	SlowName   = "slow"
)

// SourceID is the id of the source's vertex, which follows from its uid. On a busy machine a source seems to be too slow
// for its load, too; a test that is about the slow vertex excludes it.
const SourceID = "6bf01baa9d2ca23a3ef7ce311722523d"

//go:embed src
var sources embed.FS

// Sources holds the Java files, rooted at the folder of packages.
func Sources() (fs.FS, error) {
	return fs.Sub(sources, "src")
}

// Hash is a short hash of the sources: another source, another jar.
func Hash() (string, error) {
	files, err := Sources()
	if err != nil {
		return "", err
	}
	hash, err := toolcache.HashFiles(files)
	if err != nil {
		return "", fmt.Errorf("hash test job sources: %w", err)
	}
	return hash, nil
}

// Jar returns the built jar from the tool cache, or toolcache.ErrMissing with the command that builds it.
func Jar() (string, error) {
	cache, err := toolcache.Open()
	if err != nil {
		return "", err
	}
	hash, err := Hash()
	if err != nil {
		return "", err
	}
	return cache.FindTestJob(hash)
}
