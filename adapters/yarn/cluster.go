package yarn

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"flinkscaler/adapters/flink"
	"flinkscaler/adapters/flink/shared"
	"flinkscaler/adapters/kerberos"
	"flinkscaler/core"
)

// Cluster is one YARN cluster with the Flink jobs on it. It is safe for concurrent
// use.
type Cluster struct {
	cfg      Config
	managers []*manager
	// active is the manager that answered last as the one that acts.
	active  atomic.Pointer[manager]
	probed  shared.Answer[*manager]
	client  *http.Client
	timeout time.Duration
	maxBody int64
	// slots bounds the requests to ResourceManagers in flight.
	slots chan struct{}
	// jobs is the way to the addresses of the applications themselves.
	jobs *http.Transport
	// deploys is what submissions need besides.
	deploys deploys
	// shareFor and directAgain are the constants of the package; tests set them.
	shareFor, directAgain time.Duration

	mu sync.Mutex // guards the following
	// routes are by the ids of applications, last the ids by target.
	routes map[string]*route
	last   map[core.YarnTarget]string
	lists  map[string]*shared.Answer[listing]
}

// maxRequests bounds the requests to ResourceManagers in flight: they serve all of
// the cluster.
const maxRequests = 8

// New makes a Cluster, or lists every problem of the configuration. It does not
// ask the cluster anything.
func New(cfg Config) (*Cluster, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("yarn cluster: %w", err)
	}
	c := &Cluster{
		cfg: cfg, timeout: cfg.Timeout, maxBody: cfg.MaxBodyBytes, slots: make(chan struct{}, maxRequests),
		shareFor: shareFor, directAgain: directAgain,
		routes: map[string]*route{}, last: map[core.YarnTarget]string{}, lists: map[string]*shared.Answer[listing]{},
	}
	if c.timeout == 0 {
		c.timeout = DefaultTimeout
	}
	if c.maxBody == 0 {
		c.maxBody = DefaultMaxBodyBytes
	}
	for _, s := range cfg.ResourceManagers {
		m, err := newManager(s)
		if err != nil {
			return nil, fmt.Errorf("yarn cluster: %w", err)
		}
		c.managers = append(c.managers, m)
	}
	dial := cfg.dial()
	settings := flink.Config{CAFile: cfg.CAFile, CertFile: cfg.CertFile, KeyFile: cfg.KeyFile, ServerName: cfg.ServerName}
	c.client = &http.Client{
		Transport: withLogin(cfg.Login, flink.NewTransport(settings, maxRequests, marked(dial))),
		// A standby's redirect has no Location while there is no active one, which Go
		// takes for an error; and credentials go to the configured addresses alone.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	c.jobs = flink.NewTransport(cfg.Flink, flink.DefaultMaxRequests, marked(briefly(dial)))
	return c, nil
}

// withLogin sends requests as who logs in.
func withLogin(login *kerberos.Login, base http.RoundTripper) http.RoundTripper {
	if login == nil {
		return base
	}
	return login.Transport(base)
}

// Close lets go of idle connections.
func (c *Cluster) Close() {
	c.client.CloseIdleConnections()
	c.jobs.CloseIdleConnections()
}

// clusterInfo is what a ResourceManager says of itself.
type clusterInfo struct {
	// ID is when it was started, in ms; the ids of the applications that it takes begin
	// with it.
	ID      int64  `json:"id"`
	Version string `json:"resourceManagerVersion"`
	// State is ACTIVE, STANDBY or INITIALIZING.
	State string `json:"haState"`
}

func decodeInfo(b []byte) (clusterInfo, error) {
	body, err := fromJSON[struct {
		Info clusterInfo `json:"clusterInfo"`
	}](b)
	if err == nil && body.Info.Version == "" {
		err = errors.New(`no "resourceManagerVersion" in the answer`)
	}
	return body.Info, err
}

// Version asks the ResourceManager for its version: the cheapest sign that it
// answers.
func (c *Cluster) Version(ctx context.Context) (string, error) {
	info, err := c.info(ctx)
	return info.Version, err
}

func (c *Cluster) info(ctx context.Context) (clusterInfo, error) {
	return fetch(ctx, c, request{op: "read version", path: "/info"}, decodeInfo)
}
