package kdclocal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// layout is where one KDC keeps its files, and its port.
type layout struct {
	dir, realm string
	port       int
}

func (l layout) path(name string) string { return filepath.Join(l.dir, name) }

// clientConfig is krb5.conf, which libraries and programs of clients and services read. Names of hosts are taken as they
// are, since a machine that runs tests has no DNS that knows it. Clients ask for all that the KDC gives.
func (l layout) clientConfig(o Options) string {
	return fmt.Sprintf(`[libdefaults]
  default_realm = %[1]s
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
  forwardable = true
  ticket_lifetime = %[3]s
  renew_lifetime = %[4]s
  default_tkt_enctypes = %[5]s
  default_tgs_enctypes = %[5]s
  permitted_enctypes = %[5]s

[realms]
  %[1]s = {
    kdc = 127.0.0.1:%[2]d
  }

[domain_realm]
  localhost = %[1]s
  .localhost = %[1]s
`, l.realm, l.port, seconds(o.TicketLife), seconds(o.RenewableLife), enctypes)
}

// enctypes are those that MIT, Java and gokrb5 have in common, the first preferred.
const enctypes = "aes256-cts-hmac-sha1-96 aes128-cts-hmac-sha1-96"

// serverConfig is kdc.conf, which the KDC and its tools read besides krb5.conf.
func (l layout) serverConfig(o Options, modules string) string {
	salted := strings.ReplaceAll(enctypes, "96", "96:normal")
	return fmt.Sprintf(`[kdcdefaults]
  kdc_listen = 127.0.0.1:%[2]d
  kdc_tcp_listen = 127.0.0.1:%[2]d

[realms]
  %[1]s = {
    database_name = %[3]s
    key_stash_file = %[4]s
    acl_file = %[5]s
    max_life = %[6]s
    max_renewable_life = %[7]s
    supported_enctypes = %[8]s
    default_principal_flags = +renewable, +forwardable, +preauth
  }

[dbmodules]
  db_module_dir = %[9]s

[logging]
  kdc = STDERR
`, l.realm, l.port, l.path("principal"), l.path("stash"), l.path("acl"), seconds(o.TicketLife), seconds(o.RenewableLife), salted, modules)
}

// seconds writes a duration as both MIT and gokrb5 read it.
func seconds(d time.Duration) string { return fmt.Sprintf("%ds", int64(d/time.Second)) }

// writeFiles writes both configurations.
func (l layout) writeFiles(o Options, modules string) error {
	if err := os.WriteFile(l.path("krb5.conf"), []byte(l.clientConfig(o)), 0o644); err != nil {
		return err
	}
	return os.WriteFile(l.path("kdc.conf"), []byte(l.serverConfig(o, modules)), 0o600)
}
