package hadoop

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"flinkscaler/internal/kdclocal"
)

// The protections of what is sent, from the weakest to the strongest.
const (
	ProtectAuthentication = "authentication"
	ProtectIntegrity      = "integrity"
	ProtectPrivacy        = "privacy"
)

// SecureOptions say how a cluster is secured.
type SecureOptions struct {
	// KDC is whose principals the servers are. It must outlive the cluster.
	KDC *kdclocal.KDC
	// Tools is the principal that Hadoop's command line tools log in as. Default: hdfs.
	Tools string
	// HTTP asks the servers' web addresses and must be able to log in to them.
	HTTP *http.Client
	// Protection is that of RPC and of DataNodes. Default: ProtectAuthentication.
	Protection string
}

// Secure makes the principals and keytabs of a cluster's servers, and says how the servers are configured with them:
// Kerberos for RPC, SPNEGO for all web addresses and REST APIs, SASL and block tokens for DataNodes, access lists in YARN.
// Containers run as whoever runs the cluster: nothing here has root rights. Web addresses stay http, since what is to be
// seen of them is who may do what.
func Secure(ctx context.Context, o SecureOptions) (*Security, error) {
	setDefault(&o.Tools, "hdfs")
	setDefault(&o.Protection, ProtectAuthentication)
	s := secured{kdc: o.KDC, keytab: filepath.Join(o.KDC.Dir(), "hadoop.keytab"), secret: filepath.Join(o.KDC.Dir(), "cookie-secret")}
	names := []string{o.Tools}
	for _, service := range []string{"nn", "dn", "rm", "nm", "HTTP"} {
		names = append(names, service+"/"+host)
	}
	if err := o.KDC.Keytab(ctx, s.keytab, names...); err != nil {
		return nil, fmt.Errorf("secure hadoop: %w", err)
	}
	if err := os.WriteFile(s.secret, []byte(rand.Text()), 0o600); err != nil {
		return nil, fmt.Errorf("secure hadoop: %w", err)
	}
	return &Security{
		Core: with(s.core(), map[string]string{rpcProtection: o.Protection}), HDFS: with(s.hdfs(), map[string]string{dataProtection: o.Protection}), YARNSite: s.yarn(), Scheduler: access(),
		JVM: []string{"-Djava.security.krb5.conf=" + o.KDC.Config()},
		Env: []string{"KRB5_CONFIG=" + o.KDC.Config(), "KRB5PRINCIPAL=" + s.principal(o.Tools), "KRB5KEYTAB=" + s.keytab}, HTTP: o.HTTP,
	}, nil
}

const (
	rpcProtection  = "hadoop.rpc.protection"
	dataProtection = "dfs.data.transfer.protection"
)

// Protect changes how what HDFS sends is protected, which restarts it.
func (c *Cluster) Protect(ctx context.Context, protection string) error {
	c.options.Security.Core[rpcProtection] = protection
	c.options.Security.HDFS[dataProtection] = protection
	if err := c.writeFiles(); err != nil {
		return err
	}
	for _, n := range c.nameNodes {
		if err := n.Kill(); err != nil {
			return err
		}
		if err := n.Launch(); err != nil {
			return err
		}
	}
	if err := c.dataNode.Kill(); err != nil {
		return err
	}
	if err := c.dataNode.Launch(); err != nil {
		return err
	}
	for _, n := range c.nameNodes {
		if err := n.WaitReady(ctx); err != nil {
			return err
		}
	}
	return c.dataNode.WaitReady(ctx)
}

// secured is what all servers of a secured cluster share.
type secured struct {
	kdc            *kdclocal.KDC
	keytab, secret string
}

func (s secured) principal(name string) string { return name + "@" + s.kdc.Realm() }

func (s secured) service(name string) string { return s.principal(name + "/" + host) }

func (s secured) core() map[string]string {
	const web = "hadoop.http.authentication."
	return map[string]string{
		"hadoop.security.authentication":  "kerberos",
		"hadoop.security.authorization":   "true",
		"hadoop.http.filter.initializers": "org.apache.hadoop.security.AuthenticationFilterInitializer",
		web + "type":                      "kerberos",
		web + "simple.anonymous.allowed":  "false",
		web + "kerberos.principal":        s.service("HTTP"),
		web + "kerberos.keytab":           s.keytab,
		web + "signature.secret.file":     s.secret,
		"hadoop.proxyuser.rm.hosts":       "*",
		"hadoop.proxyuser.rm.groups":      "*",
		"hadoop.security.group.mapping":   "org.apache.hadoop.security.NullGroupsMapping", // no account of that name is on this machine
	}
}

// hdfs leaves ports below 1024 and https out: a test has no right to the former, and the latter shows nothing more.
func (s secured) hdfs() map[string]string {
	return map[string]string{
		"dfs.namenode.kerberos.principal":                 s.service("nn"),
		"dfs.namenode.keytab.file":                        s.keytab,
		"dfs.namenode.kerberos.internal.spnego.principal": s.service("HTTP"),
		"dfs.datanode.kerberos.principal":                 s.service("dn"),
		"dfs.datanode.keytab.file":                        s.keytab,
		"dfs.web.authentication.kerberos.principal":       s.service("HTTP"),
		"dfs.web.authentication.kerberos.keytab":          s.keytab,
		"dfs.block.access.token.enable":                   "true",
		"ignore.secure.ports.for.testing":                 "true",
		"dfs.encrypt.data.transfer.cipher.suites":         "AES/CTR/NoPadding", // what privacy is in most clusters
		"dfs.http.policy":                                 "HTTP_ONLY",
	}
}

// access: everybody submits, and nobody but the ResourceManager itself administers the queues, which everybody does
// otherwise, whatever the access lists of applications say.
func access() map[string]string {
	const root = "yarn.scheduler.capacity.root."
	return map[string]string{root + "acl_submit_applications": "*", root + "acl_administer_queue": "rm"}
}

// yarn gives nobody but the ResourceManager itself a right to the applications of others.
func (s secured) yarn() map[string]string {
	site := map[string]string{"yarn.acl.enable": "true", "yarn.admin.acl": "rm"}
	for server, name := range map[string]string{"resourcemanager": "rm", "nodemanager": "nm"} {
		prefix := "yarn." + server + "."
		site[prefix+"principal"] = s.service(name)
		site[prefix+"keytab"] = s.keytab
		site[prefix+"webapp.spnego-principal"] = s.service("HTTP")
		site[prefix+"webapp.spnego-keytab-file"] = s.keytab
	}
	return site
}
