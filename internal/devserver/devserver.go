package devserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"flinkscaler/internal/child"
)

// Options say how to run the server.
type Options struct {
	// Temporal is the path of the temporal CLI.
	Temporal string
	// Dir holds database and logs.
	Dir string
	// UI is false to leave the Web UI out.
	UI bool
	// Attributes are search attributes to register, such as "FlinkCluster=Keyword".
	Attributes []string

	// ports finds free ports, child.FreePorts when nil.
	ports func(count int) ([]int, error)
}

// Server is a running dev server. It keeps its data in a file: killed and
// started again, it goes on where it was.
type Server struct {
	process *child.Process
	port    int
	uiPort  int
}

// tries is how often a start is tried when somebody took one of its ports
// between the look and the start.
const tries = 4

var errPortTaken = errors.New("port taken by another program")

// startLimit is generous: the first start on a busy machine takes seconds.
const startLimit = 2 * time.Minute

// Start starts a server and waits until it answers.
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.ports == nil {
		o.ports = child.FreePorts
	}
	var last error
	for range tries {
		s, err := startOnce(ctx, o)
		if err == nil {
			return s, nil
		}
		last = err
		if !errors.Is(err, errPortTaken) {
			break
		}
	}
	return nil, fmt.Errorf("start the Temporal dev server: %w", last)
}

// startOnce leaves nothing running when it fails.
func startOnce(ctx context.Context, o Options) (*Server, error) {
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	ports, err := o.ports(4)
	if err != nil {
		return nil, err
	}
	s := &Server{port: ports[0], uiPort: ports[1]}
	s.process, err = child.Start(child.Command{
		Name: "temporal-server", Path: o.Temporal, LogDir: o.Dir, Dir: o.Dir,
		Args: arguments(o, ports),
	})
	if err != nil {
		return nil, err
	}
	if err := s.await(ctx); err != nil {
		return nil, errors.Join(err, s.process.End())
	}
	return s, nil
}

// arguments: the file database uses WAL and synchronous=1, since the default
// does several fsyncs per transaction and chokes on slow disks; a killed server
// loses nothing with it.
func arguments(o Options, ports []int) []string {
	args := []string{
		"server", "start-dev", "--ip", "127.0.0.1", "--port", strconv.Itoa(ports[0]),
		"--http-port", strconv.Itoa(ports[2]), "--metrics-port", strconv.Itoa(ports[3]),
		"--db-filename", filepath.Join(o.Dir, "temporal.db"),
		"--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=1",
		"--log-level", "error",
	}
	if o.UI {
		args = append(args, "--ui-port", strconv.Itoa(ports[1]))
	} else {
		args = append(args, "--headless")
	}
	for _, a := range o.Attributes {
		args = append(args, "--search-attribute", a)
	}
	return args
}

// await trusts the server's own word: on a port that was taken, somebody else
// would answer.
func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	err := child.WaitFor(ctx, "the Temporal dev server", func(context.Context) (string, bool, error) {
		switch {
		case s.process.Wrote("Server: "):
			return "", true, nil
		case s.process.Alive():
			return "it has not said that it is up", false, nil
		case s.process.Wrote("address already in use"):
			return "", false, errPortTaken
		default:
			return "", false, fmt.Errorf("it ended with exit code %d", s.process.ExitCode())
		}
	})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, s.process.Tail())
	}
	return nil
}

// Address is host:port of the frontend.
func (s *Server) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// UI is the address of the Web UI.
func (s *Server) UI() string { return fmt.Sprintf("http://127.0.0.1:%d", s.uiPort) }

// PID is the server's process id.
func (s *Server) PID() int { return s.process.PID() }

// Kill ends it as a crash would.
func (s *Server) Kill() error { return s.process.Kill() }

// Restart starts it again on the same ports and data, killed or not.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.process.Kill(); err != nil {
		return err
	}
	if err := s.process.Launch(); err != nil {
		return err
	}
	return s.await(ctx)
}

// closeLimit is the time that it gets to end by itself.
const closeLimit = 10 * time.Second

// Close ends it.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	return s.process.Stop(ctx)
}
