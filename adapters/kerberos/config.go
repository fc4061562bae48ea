package kerberos

import (
	"errors"
	"fmt"
	"strings"
)

// DefaultConfigFile is where Kerberos is configured on most machines.
const DefaultConfigFile = "/etc/krb5.conf"

// Config says who logs in, and how.
type Config struct {
	// Principal is the name with its realm, such as "flinkscaler@EXAMPLE.COM".
	Principal string
	// KeytabFile holds its keys. It is read for each login, so that it can be
	// replaced.
	KeytabFile string
	// ConfigFile tells realms and KDCs, empty for DefaultConfigFile.
	ConfigFile string
}

// Validate lists all problems of the configuration.
func (c Config) Validate() error {
	var problems []error
	add := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	name, realm, ok := strings.Cut(c.Principal, "@")
	if !ok || name == "" || realm == "" {
		add("principal: must be a name with its realm, such as flinkscaler@EXAMPLE.COM, got %q", c.Principal)
	}
	if c.KeytabFile == "" {
		add("keytabFile: is missing; give the file with the keys of the principal")
	}
	return errors.Join(problems...)
}
