package k8s

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	"k8s.io/client-go/rest"
)

// DefaultRESTPort is Flink's where nothing is said.
const DefaultRESTPort = 8081

// endpoint is a Service with a Flink REST API behind it.
type endpoint struct {
	namespace, service string
	port               int
	scheme             string
}

// in puts the endpoint into a pattern.
func (e endpoint) in(pattern string) string {
	return strings.NewReplacer("{namespace}", e.namespace, "{service}", e.service, "{port}", strconv.Itoa(e.port), "{scheme}", e.scheme).Replace(pattern)
}

// address gives the URL of an endpoint, and the transport where it is not
// Flink's own.
func (c *Cluster) address(e endpoint) (string, http.RoundTripper, error) {
	if c.cfg.Address != nil {
		return e.scheme + "://" + c.cfg.Address(e.namespace, e.service, e.port), nil, nil
	}
	if c.cfg.URL != "" {
		return e.in(c.cfg.URL), nil, nil
	}
	if c.cfg.Access != AccessProxy {
		host := net.JoinHostPort(e.service+"."+e.namespace, strconv.Itoa(e.port))
		return e.scheme + "://" + host, nil, nil
	}
	transport, err := rest.TransportFor(c.rest)
	if err != nil {
		return "", nil, fmt.Errorf("transport to the API server: %w", err)
	}
	name := fmt.Sprintf("%s:%d", e.service, e.port)
	if e.scheme == "https" {
		name = "https:" + name
	}
	return strings.TrimRight(c.rest.Host, "/") + "/api/v1/namespaces/" + e.namespace + "/services/" + name + "/proxy", transport, nil
}
