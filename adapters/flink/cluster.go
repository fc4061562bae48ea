package flink

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"flinkscaler/adapters/flink/shared"
	"flinkscaler/core"
)

// What is used where a Config says nothing.
const (
	// DefaultTimeout is long enough for a JobManager under load and short
	// enough to get past a standby that never answers.
	DefaultTimeout = 10 * time.Second
	// DefaultMaxBodyBytes holds the metric names of a source with thousands of
	// splits (about 600 bytes each on Flink 2.3).
	DefaultMaxBodyBytes = 32 << 20
	// DefaultMaxRequests keeps thousands of jobs of one cluster from being
	// asked for all at once.
	DefaultMaxRequests = 8
)

// Config says how to reach one Flink cluster.
type Config struct {
	// URLs are the REST addresses, one per JobManager, such as
	// "http://jobmanager:8081". A path in front of the API is kept. They are
	// tried in turn, first the one that answered last: all must belong to one
	// cluster. Credentials in a URL are refused.
	URLs []string
	// Timeout bounds one request to one address, connecting and reading
	// included. 0: DefaultTimeout.
	Timeout time.Duration
	// CAFile holds the authorities to trust, as PEM; empty: those of the
	// system. CertFile and KeyFile are the client's certificate. All files are
	// read again for each new connection.
	CAFile   string
	CertFile string
	KeyFile  string
	// ServerName is the name to expect in the server's certificate when it is
	// not the host of the URL.
	ServerName string
	// Username or UsernameFile, with PasswordFile: HTTP basic authentication.
	// The files are read for each request, so that they can be replaced.
	Username     string
	UsernameFile string
	PasswordFile string
	// BearerTokenFile holds a token for "Authorization: Bearer".
	BearerTokenFile string
	// MaxBodyBytes bounds an answer. 0: DefaultMaxBodyBytes.
	MaxBodyBytes int64
	// MaxRequests bounds the requests in flight. 0: DefaultMaxRequests.
	MaxRequests int
	// Redeploy says how jobs are stopped and submitted again.
	Redeploy Redeploy
	// Transport replaces the way requests are sent, TLS included, for a
	// platform that has its own, such as Kerberos. nil: the package's own,
	// which uses no proxy of the environment. A *core.OpError of it says what went
	// wrong as it is; other errors are core.ErrUnreachable.
	Transport http.RoundTripper
}

// Validate lists all problems of the configuration. None holds a value that
// could be a secret.
func (c Config) Validate() error {
	var problems []error
	add := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if len(c.URLs) == 0 {
		add("urls: must name at least one address, such as http://jobmanager:8081")
	}
	secure := false
	for i, s := range c.URLs {
		u, problem := parseURL(s)
		if problem != "" {
			add("urls[%d]: %s", i, problem)
			continue
		}
		secure = secure || u.Scheme == "https"
	}
	if c.Timeout < 0 {
		add("timeout: must not be negative, got %s", c.Timeout)
	}
	if c.MaxBodyBytes < 0 {
		add("maxBodyBytes: must not be negative, got %d", c.MaxBodyBytes)
	}
	if c.MaxRequests < 0 {
		add("maxRequests: must not be negative, got %d", c.MaxRequests)
	}
	if !secure && (c.CAFile != "" || c.CertFile != "" || c.KeyFile != "" || c.ServerName != "") {
		add("caFile, certFile, keyFile, serverName: are of no use without an https address in urls")
	}
	problems = append(problems, c.Redeploy.problems()...)
	problems = append(problems, c.checkTLS()...)
	problems = append(problems, c.checkCredentials()...)
	return errors.Join(problems...)
}

// parseURL checks one address. The problem never repeats the address: it may
// hold a password.
func parseURL(s string) (*url.URL, string) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return nil, "is not a URL"
	case u.User != nil:
		return nil, "must not hold a user or password; use usernameFile and passwordFile"
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, "must begin with http:// or https://"
	case u.Host == "":
		return nil, "has no host"
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return nil, "must not hold a query or fragment"
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	return u, ""
}

// Cluster is one Flink cluster. It is safe for concurrent use.
type Cluster struct {
	addresses []*url.URL
	// answered is the index in addresses of the one that answered last.
	answered atomic.Int32
	timeout  time.Duration
	maxBody  int64
	client   *http.Client
	login    credentials
	redeploy Redeploy
	// slots bounds the requests in flight.
	slots chan struct{}

	version  shared.Answer[Version]
	config   shared.Answer[map[string]string]
	clock    shared.Answer[clockReading]
	managers shared.Answer[[]taskManager]
	clocks   shared.Answer[map[string]core.Reading]
	jobs     shared.Answer[[]Job]
	global   shared.Answer[globalMetrics]
	names    nameCache

	configMu sync.Mutex
	configs  map[string]*shared.Answer[map[string]string]
}

// New makes a Cluster, or lists every problem of the configuration. It does
// not ask the cluster anything.
func New(cfg Config) (*Cluster, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("flink cluster: %w", err)
	}
	c := &Cluster{
		timeout: orDefault(cfg.Timeout, DefaultTimeout),
		maxBody: orDefault(cfg.MaxBodyBytes, DefaultMaxBodyBytes),
		login:   cfg.credentials(),
		slots:   make(chan struct{}, orDefault(cfg.MaxRequests, DefaultMaxRequests)),
		configs: map[string]*shared.Answer[map[string]string]{}, redeploy: cfg.Redeploy,
	}
	for _, s := range cfg.URLs {
		u, _ := parseURL(s)
		c.addresses = append(c.addresses, u)
	}
	transport := cfg.Transport
	if transport == nil {
		transport = NewTransport(cfg, cap(c.slots), nil)
	}
	c.client = &http.Client{
		Transport: transport,
		// A redirect is never followed: Go would turn a PUT into a GET, and a
		// login page's 200 would look like an answer.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// Close lets go of idle connections.
func (c *Cluster) Close() { c.client.CloseIdleConnections() }

func orDefault[T ~int | ~int64](v, otherwise T) T {
	if v == 0 {
		return otherwise
	}
	return v
}
