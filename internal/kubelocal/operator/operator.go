package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"flinkscaler/internal/child"
	"flinkscaler/internal/kubelocal"
	"flinkscaler/internal/toolcache"
)

// Options say how to run an operator. Plane is needed.
type Options struct {
	Plane *kubelocal.Plane
	// Config overrides or adds entries of the operator's configuration, which is also the default of every cluster's.
	Config map[string]string

	// Dir is the folder in which the operator makes a folder of its own. Default: the system's temporary folder.
	Dir string
	// KeepDir leaves that folder, with all logs, behind.
	KeepDir bool
	// Log receives a line for each step of starting up. Default: nowhere.
	Log io.Writer
	// WaitTimeout bounds each wait for the operator to be healthy. Default 3 min: it takes seconds, unless everything else
	// on the machine starts as well.
	WaitTimeout time.Duration
}

// Operator is a running operator. Close ends it.
type Operator struct {
	options Options
	dir     string
	health  string // where it says that it is
	process *child.Process
	started time.Time
}

// tries is how often a start is tried when somebody took the port of its health between the look and the start.
const tries = 4

var errPortTaken = errors.New("port taken by another program")

// Start runs an operator and returns when it is healthy. ctx bounds the start only: the operator then runs until Close,
// or until this process ends.
func Start(ctx context.Context, o Options) (*Operator, error) {
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.WaitTimeout == 0 {
		o.WaitTimeout = 3 * time.Minute
	}
	path, err := findClassPath()
	if err != nil {
		return nil, fmt.Errorf("start the Flink operator: %w", err)
	}
	for range tries {
		p, startErr := startOnce(ctx, o, path)
		if startErr == nil {
			return p, nil
		}
		err = startErr
		if !errors.Is(err, errPortTaken) {
			break
		}
	}
	return nil, fmt.Errorf("start the Flink operator: %w", err)
}

// findClassPath finds the operator in the tool cache.
func findClassPath() (string, error) {
	cache, err := toolcache.Open()
	if err != nil {
		return "", err
	}
	found, err := cache.FindFlinkOperator()
	if err != nil {
		return "", err
	}
	return classPath(found.Jars)
}

// startOnce leaves nothing running and no folder when it fails.
func startOnce(ctx context.Context, options Options, path string) (*Operator, error) {
	ports, err := child.FreePorts(1)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(options.Dir, "flink-operator-")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	o := &Operator{
		options: options, dir: dir, started: time.Now(),
		health: "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[0])),
	}
	if err := o.start(ctx, path, ports[0]); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

func (o *Operator) start(ctx context.Context, path string, port int) error {
	if err := writeFiles(o.dir, configuration(o.dir, port, o.options.Config)); err != nil {
		return err
	}
	o.process = child.New(command(o.dir, path, o.options.Plane.Kubeconfig()))
	if err := o.process.Launch(); err != nil {
		return err
	}
	if err := o.WaitHealthy(ctx); err != nil {
		return err
	}
	took := time.Since(o.started).Round(100 * time.Millisecond)
	fmt.Fprintf(o.options.Log, "flink operator %s: healthy after %s\n", toolcache.OperatorVersion, took)
	return nil
}

// Process can be killed, frozen and launched again. See WaitHealthy.
func (o *Operator) Process() *child.Process { return o.process }

// WaitHealthy waits until the operator says that it works, after it was launched again. It fails at once when it ends.
func (o *Operator) WaitHealthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, o.options.WaitTimeout)
	defer cancel()
	err := child.WaitFor(ctx, "the Flink operator", func(ctx context.Context) (string, bool, error) {
		switch {
		case o.process.Alive():
			state, ok := o.healthy(ctx)
			return state, ok, nil
		case o.process.Wrote("Address already in use"):
			return "", false, errPortTaken
		default:
			return "", false, fmt.Errorf("it ended with exit code %d", o.process.ExitCode())
		}
	})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, o.process.Tail())
	}
	return nil
}

func (o *Operator) healthy(ctx context.Context) (state string, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, o.health, nil)
	if err != nil {
		return err.Error(), false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error(), false
	}
	_ = response.Body.Close()
	return response.Status, response.StatusCode == http.StatusOK
}

// Close kills the operator, leaves all that it manages as it is, and removes its folder unless it is to be kept. Closing
// again does nothing.
func (o *Operator) Close() error {
	var problems []error
	if o.process != nil {
		problems = append(problems, o.process.End())
	}
	if !o.options.KeepDir {
		problems = append(problems, os.RemoveAll(o.dir))
	}
	return errors.Join(problems...)
}
