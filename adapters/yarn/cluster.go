package yarn

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"flinkscaler/adapters/flink"
	"flinkscaler/core"
)

// Cluster is one YARN cluster with the Flink jobs on it. It is safe for concurrent
// use.
type Cluster struct {
	cfg       Config
	addresses []*url.URL
	client    *http.Client
	timeout   time.Duration
	maxBody   int64

	mu sync.Mutex
	// flinks are the clients of Flink's REST APIs, by address.
	flinks map[string]*flink.Cluster
}

// New makes a Cluster, or lists every problem of the configuration. It does not
// ask the cluster anything.
func New(cfg Config) (*Cluster, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("yarn cluster: %w", err)
	}
	c := &Cluster{cfg: cfg, timeout: cfg.Timeout, maxBody: cfg.MaxBodyBytes, flinks: map[string]*flink.Cluster{}}
	if c.timeout == 0 {
		c.timeout = DefaultTimeout
	}
	if c.maxBody == 0 {
		c.maxBody = DefaultMaxBodyBytes
	}
	for _, s := range cfg.ResourceManagers {
		u, err := url.Parse(strings.TrimRight(s, "/"))
		if err != nil {
			return nil, errors.New("yarn cluster: an address is not a URL")
		}
		c.addresses = append(c.addresses, u)
	}
	c.client = &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute},
		// The standby's redirect has no Location while there is no active one, which Go
		// takes for an error.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// Close lets go of idle connections.
func (c *Cluster) Close() {
	c.client.CloseIdleConnections()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.flinks {
		f.Close()
	}
}

// Version asks the ResourceManager for its version: the cheapest sign that it
// answers.
func (c *Cluster) Version(ctx context.Context) (string, error) {
	return fetch(ctx, c, request{op: "read version", path: "/info"}, func(b []byte) (string, error) {
		body, err := fromJSON[struct {
			Info struct {
				Version string `json:"resourceManagerVersion"`
			} `json:"clusterInfo"`
		}](b)
		if err == nil && body.Info.Version == "" {
			err = errors.New(`no "resourceManagerVersion" in the answer`)
		}
		return body.Info.Version, err
	})
}

// flinkAt gives the client of the Flink REST API at an address, one per address.
func (c *Cluster) flinkAt(address string) (*flink.Cluster, error) {
	scheme := "http://"
	if c.cfg.FlinkTLS {
		scheme = "https://"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.flinks[address]; ok {
		return f, nil
	}
	cfg := c.cfg.Flink
	cfg.URLs = []string{scheme + address}
	f, err := flink.New(cfg)
	if err != nil {
		return nil, &core.OpError{Op: "reach Flink", Subject: address, Err: fmt.Errorf("%w: %w", core.ErrUnreachable, err)}
	}
	c.flinks[address] = f
	return f, nil
}
