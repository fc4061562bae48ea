package k8s

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"flinkscaler/adapters/flink"
)

// FieldManager marks what we write on an object.
const FieldManager = "flinkscaler"

// AnnotationDecision holds the id of the decision that wrote last.
const AnnotationDecision = "flinkscaler/decision-id"

// The ways to reach a Flink REST API inside the Kubernetes cluster.
const (
	// AccessService connects to the Service by its name, from inside.
	AccessService = "service"
	// AccessProxy goes through the API server, from outside. It needs the right
	// to services/proxy, which is powerful.
	AccessProxy = "proxy"
)

// What is used where a Config says nothing.
const (
	DefaultTimeout = 10 * time.Second
	// DefaultQPS lets a worker look at some hundred jobs in one cycle of a minute.
	DefaultQPS   = 50
	DefaultBurst = 100
)

// Config says how to reach one Kubernetes cluster.
type Config struct {
	// Kubeconfig is a file, and Context one of its contexts, empty for the current
	// one. Without a file the worker's own ServiceAccount is used, inside a cluster.
	Kubeconfig string
	Context    string
	// Namespaces are those in which jobs are looked for by Discover; empty: all.
	Namespaces []string
	// QPS and Burst bound the requests to the API server, 0: DefaultQPS and
	// DefaultBurst.
	QPS   int
	Burst int
	// Timeout bounds one request, 0: DefaultTimeout.
	Timeout time.Duration
	// Access is AccessService or AccessProxy, empty for the first.
	Access string
	// URL is a pattern for the addresses of Flink REST APIs in place of Access, such
	// as "https://flink.example.com/{namespace}/{service}" for those behind an Ingress.
	// {namespace}, {service}, {port} and {scheme} are replaced.
	URL string
	// Flink is how the Flink REST APIs are reached. Its URLs come from the objects
	// and must be empty.
	Flink flink.Config
	// SessionTaskManagers allows to change the TaskManagers of a FlinkCluster
	// without a job, where that restarts nothing.
	SessionTaskManagers bool
	// Nodes allows to look at nodes and at the pods of all namespaces, to know what
	// fits.
	Nodes bool
	// REST replaces Kubeconfig and Context, for a program that has a client already.
	REST *rest.Config
	// Address replaces the address of a Flink REST API: it gets the Service and
	// gives host:port. nil: that of the Service.
	Address func(namespace, service string, port int) string
}

// Validate lists all problems of the configuration.
func (c Config) Validate() error {
	var problems []error
	add := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if c.Context != "" && c.Kubeconfig == "" {
		add("context: needs a kubeconfig")
	}
	if c.QPS < 0 {
		add("qps: must not be negative, got %d", c.QPS)
	}
	if c.Burst < 0 {
		add("burst: must not be negative, got %d", c.Burst)
	}
	if c.Timeout < 0 {
		add("timeout: must not be negative, got %s", c.Timeout)
	}
	switch c.Access {
	case "", AccessService, AccessProxy:
	default:
		add("access: must be %s or %s, got %q", AccessService, AccessProxy, c.Access)
	}
	if c.URL != "" {
		if c.Access != "" {
			add("url: cannot be given beside access")
		}
		example := endpoint{namespace: "shop", service: "orders-rest", port: DefaultRESTPort, scheme: "http"}.in(c.URL)
		if strings.ContainsAny(example, "{}") {
			add("url: knows {namespace}, {service}, {port} and {scheme}, and no other part in braces")
		} else if err := (flink.Config{URLs: []string{example}}).Validate(); err != nil {
			add("url: %s", strings.TrimPrefix(err.Error(), "urls[0]: "))
		}
	}
	if len(c.Flink.URLs) > 0 {
		add("flink.url: must be left out: the addresses come from the objects")
	}
	return errors.Join(problems...)
}
