package flinklocal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"flinkscaler/internal/toolcache"
)

// Options says what cluster to run. The zero value is one JobManager and one TaskManager with four slots, of the Flink 2
// that the tool cache is for.
type Options struct {
	// Version is the Flink version to take from the tool cache. Default: toolcache.Flink2, or what Home holds.
	Version string
	// Home is an unpacked distribution to run instead of one from the tool cache.
	Home string

	// TaskManagers is how many to start. Default 1. More can be added later.
	TaskManagers int
	// Slots of each TaskManager. Default 4.
	Slots int
	// HA runs two JobManagers with a ZooKeeper beside them.
	HA bool

	// WebTimeout is Flink's web.timeout: for so long all metrics of the cluster stand still when a TaskManager does not
	// answer. Flink's default is 10 min; the default here is 10 s.
	WebTimeout time.Duration
	// FetchInterval is how often the JobManager collects metrics, Flink's metrics.fetcher.update-interval. Flink's
	// default is 10 s; the default here is 1 s.
	FetchInterval time.Duration
	// Config overrides or adds entries of Flink's configuration.
	Config map[string]string

	// Dir is the folder in which the cluster makes a folder of its own. Default: the system's temporary folder.
	Dir string
	// KeepDir leaves that folder, with all logs, behind.
	KeepDir bool
	// Log receives a line for each step of starting up. Default: nowhere.
	Log io.Writer
	// WaitTimeout bounds each wait: for one process to start, for a job to run. Default 3 min: a JVM starts in seconds,
	// unless everything else on the machine starts as well.
	WaitTimeout time.Duration
}

// withDefaults fills what was left out and finds the distribution.
func (o Options) withDefaults() (Options, error) {
	if o.Version == "" && o.Home == "" {
		o.Version = toolcache.Flink2
	}
	if o.Home == "" {
		cache, err := toolcache.Open()
		if err != nil {
			return o, err
		}
		if o.Home, err = cache.FindFlinkHome(o.Version); err != nil {
			return o, err
		}
	}
	if o.Version == "" {
		version, err := versionOf(o.Home)
		if err != nil {
			return o, err
		}
		o.Version = version
	}
	setDefault(&o.TaskManagers, 1)
	setDefault(&o.Slots, 4)
	setDefault(&o.WebTimeout, 10*time.Second)
	setDefault(&o.FetchInterval, time.Second)
	setDefault(&o.Dir, os.TempDir())
	setDefault(&o.WaitTimeout, 3*time.Minute)
	if o.Log == nil {
		o.Log = io.Discard
	}
	return o, o.validate()
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (o Options) validate() error {
	var problems []error
	atLeast := func(name string, ok bool, got any) {
		if !ok {
			problems = append(problems, fmt.Errorf("%s: must be positive, got %v", name, got))
		}
	}
	atLeast("TaskManagers", o.TaskManagers > 0, o.TaskManagers)
	atLeast("Slots", o.Slots > 0, o.Slots)
	atLeast("WebTimeout", o.WebTimeout > 0, o.WebTimeout)
	atLeast("FetchInterval", o.FetchInterval > 0, o.FetchInterval)
	if _, err := toolcache.ParseVersion(o.Version); err != nil {
		problems = append(problems, fmt.Errorf("Version: %w", err))
	}
	return errors.Join(problems...)
}
