package toolcache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The pinned versions. TemporalVersion and TctlVersion must be those of tools/temporal and tools/tctl.
const (
	// TemporalVersion is the newest temporal CLI that builds from its published module alone.
	TemporalVersion = "1.5.1"
	// TctlVersion is the last tctl.
	TctlVersion = "1.18.0"
	// Flink2 is the Flink 2 release that the e2e tier and the demo run.
	Flink2 = "2.3.0"
	// Flink1 is the Flink 1 release beside it. The test job is compiled against this one.
	Flink1 = "1.20.5"
)

// EnvDir names the environment variable that moves the cache.
const EnvDir = "FLINKSCALER_CACHE"

// ErrMissing says that a tool is not in the cache. The error that wraps it says how to get it.
var ErrMissing = errors.New("not in the tool cache")

// Cache is a folder that holds tools and distributions.
type Cache struct {
	root string
}

// Dir returns the folder of the cache: $FLINKSCALER_CACHE, otherwise flinkscaler in the user's cache directory.
func Dir() (string, error) {
	if dir := os.Getenv(EnvDir); dir != "" {
		return filepath.Abs(dir)
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find tool cache (set %s): %w", EnvDir, err)
	}
	return filepath.Join(base, "flinkscaler"), nil
}

// Open returns the cache at Dir. Nothing is created.
func Open() (Cache, error) {
	dir, err := Dir()
	if err != nil {
		return Cache{}, err
	}
	return At(dir), nil
}

// At returns the cache at a given folder.
func At(root string) Cache { return Cache{root: root} }

// Root is the folder of the cache.
func (c Cache) Root() string { return c.root }

// Temporal is the place of the temporal CLI that was built for this cache. See FindTemporal for the one to run.
func (c Cache) Temporal() string { return c.bin("temporal-" + TemporalVersion) }

// Tctl is the place of tctl.
func (c Cache) Tctl() string { return c.bin("tctl-" + TctlVersion) }

// FlinkHome is the place of an unpacked Flink distribution.
func (c Cache) FlinkHome(version string) string { return filepath.Join(c.root, "flink-"+version) }

// TestJob is the place of the test job's jar that was built from sources with this hash.
func (c Cache) TestJob(hash string) string { return filepath.Join(c.root, "testjob-"+hash+".jar") }

// Oracle is the place of the Java autoscaler with the harness that was built from sources with this hash.
func (c Cache) Oracle(hash string) string { return filepath.Join(c.root, "oracle-"+hash) }

// Downloads is the folder for archives between download and unpacking.
func (c Cache) Downloads() string { return filepath.Join(c.root, "dl") }

// Locks is the folder of the lock files with which two runs of tools/ensure stay out of each other's way.
func (c Cache) Locks() string { return filepath.Join(c.root, "locks") }

func (c Cache) bin(name string) string { return filepath.Join(c.root, "bin", name) }

// FindTctl returns the tctl to run, or ErrMissing.
func (c Cache) FindTctl() (string, error) { return present(c.Tctl(), "tctl") }

// FindFlinkHome returns the folder of an unpacked Flink distribution, or ErrMissing.
func (c Cache) FindFlinkHome(version string) (string, error) {
	return present(c.FlinkHome(version), "flink:"+version)
}

// FindTestJob returns the jar built from sources with this hash, or ErrMissing.
func (c Cache) FindTestJob(hash string) (string, error) { return present(c.TestJob(hash), "testjob") }

// FindOracle returns the folder built from sources with this hash, or ErrMissing.
func (c Cache) FindOracle(hash string) (string, error) { return present(c.Oracle(hash), "oracle") }

// present returns path when something is there; target is what tools/ensure calls it.
func present(path, target string) (string, error) {
	_, err := os.Stat(path)
	switch {
	case err == nil:
		return path, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("find %s (run: go run ./tools/ensure %s): %w", target, target, ErrMissing)
	default:
		return "", fmt.Errorf("find %s: %w", target, err)
	}
}
