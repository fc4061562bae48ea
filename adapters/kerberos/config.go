package kerberos

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/keytab"
)

// DefaultConfigFile is read when neither the configuration nor KRB5_CONFIG names another.
const DefaultConfigFile = "/etc/krb5.conf"

// DefaultTimeout is the longest wait for a KDC: one that answers needs milliseconds, and with two of which the first is
// down the library needs ten seconds for the second.
const DefaultTimeout = 20 * time.Second

// Config says who logs in, and where.
type Config struct {
	// Principal is the name to log in as: flinkscaler@EXAMPLE.COM or flinkscaler/host.example.com@EXAMPLE.COM. Without a
	// realm it is krb5.conf's default_realm.
	Principal string
	// KeytabFile holds the principal's keys. It is read at each login.
	KeytabFile string
	// ConfigFile is a krb5.conf, which says where the KDCs of the realm are, how long tickets are asked for, and to which
	// realm a host belongs. Default: the file that KRB5_CONFIG names, else /etc/krb5.conf. It is read at each login.
	ConfigFile string
	// Timeout is the longest wait for a KDC. Default: 20 s.
	Timeout time.Duration
}

// Validate lists all problems of the configuration, those of its files too.
func (c Config) Validate() error {
	var problems []error
	add := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	name, realm, problem := splitPrincipal(c.Principal)
	if problem != "" {
		add("principal: %s", problem)
	}
	if c.Timeout < 0 {
		add("timeout: must not be negative, got %s", c.Timeout)
	}
	settings, err := loadConfig(c.configFile())
	switch {
	case err != nil:
		add("configFile: %w", err)
	case realm == "":
		realm = settings.LibDefaults.DefaultRealm
	}
	if err == nil && problem == "" {
		for _, p := range checkRealm(realm, settings) {
			add("%s", p)
		}
	}
	if c.KeytabFile == "" {
		add("keytabFile: must be given")
	} else if keys, err := loadKeytab(c.KeytabFile); err != nil {
		add("keytabFile: %w", err)
	} else if problem == "" && realm != "" && !holds(keys, name, realm) {
		add("keytabFile: %s has no key of %s@%s", c.KeytabFile, name, realm)
	}
	return errors.Join(problems...)
}

// checkRealm says what keeps a realm from being asked.
func checkRealm(realm string, settings *config.Config) []string {
	if realm == "" {
		return []string{"principal: has no realm, and krb5.conf has no default_realm"}
	}
	if settings.LibDefaults.DNSLookupKDC {
		return nil
	}
	for _, r := range settings.Realms {
		if r.Realm == realm && len(r.KDC) > 0 {
			return nil
		}
	}
	return []string{fmt.Sprintf("configFile: names no kdc of realm %s, and dns_lookup_kdc is off", realm)}
}

// splitPrincipal cuts a name from its realm.
func splitPrincipal(principal string) (name, realm, problem string) {
	name, realm, hasRealm := strings.Cut(principal, "@")
	switch {
	case principal == "":
		return "", "", "must be given, such as flinkscaler@EXAMPLE.COM"
	case name == "" || (hasRealm && realm == "") || strings.Contains(realm, "@") || strings.ContainsAny(principal, " \t\r\n"):
		return "", "", fmt.Sprintf("must be NAME@REALM or NAME/HOST@REALM, got %q", principal)
	case strings.Contains(name, "_HOST"):
		return "", "", fmt.Sprintf("must have the host's name in place of _HOST, got %q", principal)
	}
	return name, realm, ""
}

func (c Config) configFile() string {
	if c.ConfigFile != "" {
		return c.ConfigFile
	}
	if file := os.Getenv("KRB5_CONFIG"); file != "" {
		return file
	}
	return DefaultConfigFile
}

func (c Config) timeout() time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return DefaultTimeout
}

// loadConfig reads a krb5.conf. What the library does not support in it, it leaves out.
func loadConfig(file string) (*config.Config, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, err // the library's own error hides why
	}
	settings, err := config.Load(file)
	if unsupported := (config.UnsupportedDirective{}); errors.As(err, &unsupported) && settings != nil {
		return settings, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return settings, nil
}

// loadKeytab reads a keytab. Its errors never show what is in it.
func loadKeytab(file string) (*keytab.Keytab, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	keys := keytab.New()
	if !readKeytab(keys, content) {
		return nil, fmt.Errorf("%s is not a keytab, or is cut short", file)
	}
	return keys, nil
}

// readKeytab also takes the library's panics about content that is no keytab for an answer.
func readKeytab(keys *keytab.Keytab, content []byte) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return keys.Unmarshal(content) == nil && len(keys.Entries) > 0
}

// holds reports whether a keytab has any key of a principal.
func holds(keys *keytab.Keytab, name, realm string) bool {
	for _, e := range keys.Entries {
		if e.Principal.Realm == realm && strings.Join(e.Principal.Components, "/") == name {
			return true
		}
	}
	return false
}
