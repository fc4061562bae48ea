package k8s

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"flinkscaler/adapters/flink"
	"flinkscaler/adapters/flink/shared"
	"flinkscaler/core"
)

// Cluster is one Kubernetes cluster with the Flink jobs on it. It is safe for
// concurrent use.
type Cluster struct {
	cfg     Config
	rest    *rest.Config
	objects dynamic.Interface
	// timeout bounds one call to the API server.
	timeout time.Duration

	mu     sync.Mutex
	flinks map[string]*flink.Cluster
	places map[core.KubernetesTarget]place
	lists  map[question]*shared.Answer[listing]
	// shareFor and reportsFor are the ages that answers may have; tests that write
	// and look in one breath allow none.
	shareFor, reportsFor time.Duration
}

// New makes a Cluster, or lists every problem of the configuration. It does not
// ask the cluster anything.
func New(cfg Config) (*Cluster, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("kubernetes cluster: %w", err)
	}
	config, err := connection(cfg)
	if err != nil {
		return nil, fmt.Errorf("kubernetes cluster: %w", err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("kubernetes cluster: %w", err)
	}
	return &Cluster{
		cfg: cfg, rest: config, objects: objects, timeout: config.Timeout,
		flinks: map[string]*flink.Cluster{}, places: map[core.KubernetesTarget]place{},
		lists: map[question]*shared.Answer[listing]{}, shareFor: shareFor, reportsFor: reportsFor,
	}, nil
}

// connection is how the API server is reached, with our limits.
func connection(cfg Config) (*rest.Config, error) {
	config, err := credentials(cfg)
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.UserAgent = FieldManager
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return once{next} })
	config.QPS, config.Burst, config.Timeout = DefaultQPS, DefaultBurst, DefaultTimeout
	if cfg.QPS > 0 {
		config.QPS = float32(cfg.QPS)
	}
	if cfg.Burst > 0 {
		config.Burst = cfg.Burst
	}
	if cfg.Timeout > 0 {
		config.Timeout = cfg.Timeout
	}
	return config, nil
}

func credentials(cfg Config) (*rest.Config, error) {
	switch {
	case cfg.REST != nil:
		return cfg.REST, nil
	case cfg.Kubeconfig == "":
		config, err := rest.InClusterConfig()
		if err != nil {
			return nil, fmt.Errorf("no kubeconfig is given, and this is no pod of a cluster: %w", err)
		}
		return config, nil
	}
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: cfg.Kubeconfig}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: cfg.Context}).ClientConfig()
}

// Version asks the API server for its version: the cheapest sign that it answers.
func (c *Cluster) Version(ctx context.Context) (string, error) {
	client, err := discovery.NewDiscoveryClientForConfig(c.rest)
	if err != nil {
		return "", fmt.Errorf("client of the API server: %w", err)
	}
	b, err := client.RESTClient().Get().AbsPath("/version").DoRaw(ctx)
	if err != nil {
		return "", translate(err, call{verb: "get", resource: schema.GroupVersionResource{Resource: "/version"}})
	}
	var v struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return "", &core.OpError{Op: "read version", Subject: "API server", Err: fmt.Errorf("%w: %w", core.ErrUnreachable, err)}
	}
	return v.GitVersion, nil
}

// Close lets go of idle connections.
func (c *Cluster) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.flinks {
		f.Close()
	}
}

// flinkAt gives the client of a Flink REST API behind a Service, one per address.
func (c *Cluster) flinkAt(e endpoint) (*flink.Cluster, error) {
	address, transport, err := c.address(e)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.flinks[address]; ok {
		return f, nil
	}
	if len(c.flinks) >= maxPlaces {
		clear(c.flinks) // of objects that are long gone; the others are made again
	}
	cfg := c.cfg.Flink
	cfg.URLs, cfg.Transport = []string{address}, transport
	f, err := flink.New(cfg)
	if err != nil {
		return nil, err
	}
	c.flinks[address] = f
	return f, nil
}

// schemeOf is https where the object's Flink options, flattened, ask for TLS.
func schemeOf(options map[string]string) string {
	if strings.EqualFold(options["security.ssl.rest.enabled"], "true") {
		return "https"
	}
	return "http"
}
