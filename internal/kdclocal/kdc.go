package kdclocal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"flinkscaler/internal/child"
	"flinkscaler/internal/toolcache"
)

// KDC is a running KDC. Close ends it. Its methods may be called from any goroutine.
type KDC struct {
	options Options
	layout  layout
	tools   toolcache.Krb5
	process *child.Process

	// admin keeps tools that write to the database apart.
	admin sync.Mutex
}

// tries is how often a start is tried when somebody took its port between the look and the start.
const tries = 4

var errPortTaken = errors.New("port taken by another program")

// Start runs a KDC and returns when it answers. ctx bounds the start only.
func Start(ctx context.Context, o Options) (*KDC, error) {
	o = o.withDefaults()
	cache, err := toolcache.Open()
	if err != nil {
		return nil, fmt.Errorf("start a KDC: %w", err)
	}
	tools, err := cache.FindKrb5()
	if err != nil {
		return nil, fmt.Errorf("start a KDC: %w", err)
	}
	started := time.Now()
	for range tries {
		k, startErr := startOnce(ctx, o, tools)
		if startErr == nil {
			fmt.Fprintf(o.Log, "kdc: %s serves at %s after %s\n", o.Realm, k.Address(), time.Since(started).Round(100*time.Millisecond))
			return k, nil
		}
		err = startErr
		if !errors.Is(err, errPortTaken) {
			break
		}
	}
	return nil, fmt.Errorf("start a KDC: %w", err)
}

// startOnce leaves nothing running and no folder when it fails.
func startOnce(ctx context.Context, o Options, tools toolcache.Krb5) (*KDC, error) {
	ports, err := o.ports(1)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(o.Dir, "kdc-")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	k := &KDC{options: o, tools: tools, layout: layout{dir: dir, realm: o.Realm, port: ports[0]}}
	program, err := tools.Program("krb5kdc")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	k.process = child.New(child.Command{
		Name: "krb5kdc", Path: program, Args: []string{"-n", "-r", o.Realm}, Env: k.environment(), Dir: dir, LogDir: dir,
	})
	if err := k.start(ctx); err != nil {
		return nil, errors.Join(err, k.Close())
	}
	return k, nil
}

func (k *KDC) start(ctx context.Context) error {
	if err := k.layout.writeFiles(k.options, k.tools.Databases()); err != nil {
		return err
	}
	if err := k.run(ctx, "kdb5_util", "create", "-s", "-r", k.options.Realm, "-P", rand.Text()); err != nil {
		return err
	}
	return k.Launch(ctx)
}

// environment lets MIT's programs find their libraries and this KDC's files. The KDC's log is its output.
func (k *KDC) environment() []string {
	return []string{
		"LD_LIBRARY_PATH=" + k.tools.Libraries(), "KRB5_CONFIG=" + k.Config(), "KRB5_KDC_PROFILE=" + k.layout.path("kdc.conf"),
		"LC_ALL=C",
	}
}

// Realm is its name.
func (k *KDC) Realm() string { return k.options.Realm }

// Config is the path of the krb5.conf for its clients.
func (k *KDC) Config() string { return k.layout.path("krb5.conf") }

// Address is host and port, TCP and UDP.
func (k *KDC) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(k.layout.port)) }

// Dir is its folder, with logs and keytabs.
func (k *KDC) Dir() string { return k.layout.dir }

// Process can be killed, frozen and thawed. See Launch.
func (k *KDC) Process() *child.Process { return k.process }

// Launch runs it again after it was killed, with all principals, and waits until it answers.
func (k *KDC) Launch(ctx context.Context) error {
	if err := k.process.Launch(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, k.options.WaitTimeout)
	defer cancel()
	err := child.WaitFor(ctx, "krb5kdc", func(context.Context) (string, bool, error) {
		if !k.process.Alive() {
			if k.process.Wrote("Address already in use") {
				return "", false, errPortTaken
			}
			return "", false, fmt.Errorf("it ended with exit code %d\n%s", k.process.ExitCode(), k.process.Tail())
		}
		// It says so when it listens on both, and before that a connection may well reach somebody else.
		return "starting", k.process.Wrote("commencing operation"), nil
	})
	if err != nil && k.process.Alive() {
		return fmt.Errorf("%w\n%s", err, k.process.Tail())
	}
	return err
}

// Close ends it for good and removes its folder unless it is to be kept. Closing again does nothing.
func (k *KDC) Close() error {
	err := k.process.End()
	if !k.options.KeepDir {
		err = errors.Join(err, os.RemoveAll(k.layout.dir))
	}
	return err
}

// full is a principal's name with the realm.
func (k *KDC) full(name string) string {
	if strings.Contains(name, "@") {
		return name
	}
	return name + "@" + k.options.Realm
}
