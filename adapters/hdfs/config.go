package hdfs

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"flinkscaler/adapters/kerberos"
)

// DefaultTimeout bounds one answer of a NameNode or DataNode.
const DefaultTimeout = 10 * time.Second

// The ways in which what DataNodes send is protected (dfs.data.transfer.protection).
const (
	ProtectAuthentication = "authentication"
	ProtectIntegrity      = "integrity"
	ProtectPrivacy        = "privacy"
)

// Protections are all of them.
func Protections() []string {
	return []string{ProtectAuthentication, ProtectIntegrity, ProtectPrivacy}
}

// Config says how to reach HDFS.
type Config struct {
	// ConfigDirectory holds core-site.xml and hdfs-site.xml, which tell NameNodes
	// and nameservices; empty: Nameservices tells them all.
	ConfigDirectory string
	// Nameservices are NameNodes as host:port by the authority of their URLs: a
	// nameservice, or the host:port of a single NameNode. They come before those of
	// ConfigDirectory.
	Nameservices map[string][]string
	// User acts, where HDFS is without Kerberos; empty: the user of the process.
	User string
	// Timeout bounds one answer, 0: DefaultTimeout.
	Timeout time.Duration
	// Login is who logs in, nil without Kerberos. ServicePrincipal is the NameNodes',
	// such as "nn/_HOST", empty for the one of ConfigDirectory.
	Login            *kerberos.Login
	ServicePrincipal string
	// Protection is one of Protections, empty for the one of ConfigDirectory.
	Protection string
	// DatanodeHostnames connects to DataNodes by their names, not their addresses.
	DatanodeHostnames bool
}

// Validate lists all problems of the configuration.
func (c Config) Validate() error {
	var problems []error
	add := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if c.ConfigDirectory == "" && len(c.Nameservices) == 0 {
		add("nameservices: is missing; give the NameNodes as {<nameservice>: [host:port, ...]}, or configDirectory with core-site.xml and hdfs-site.xml")
	}
	for name, nodes := range c.Nameservices {
		if len(nodes) == 0 {
			add("nameservices.%s: names no NameNode; give them as host:port", name)
		}
		for i, n := range nodes {
			if host, port, err := net.SplitHostPort(n); err != nil || host == "" || port == "" {
				add("nameservices.%s[%d]: must be host:port, got %q", name, i, n)
			}
		}
	}
	if c.Timeout < 0 {
		add("timeout: must not be negative, got %s", c.Timeout)
	}
	if c.Protection != "" && !slices.Contains(Protections(), c.Protection) {
		add("protection: must be one of %v, got %q", Protections(), c.Protection)
	}
	return errors.Join(problems...)
}
