package kerberos

import "fmt"

// Login is a principal that logs in when it is needed. It is safe for concurrent
// use.
type Login struct{ cfg Config }

// New makes a Login, or lists every problem of the configuration. It asks nobody
// anything.
func New(cfg Config) (*Login, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("kerberos: %w", err)
	}
	if cfg.ConfigFile == "" {
		cfg.ConfigFile = DefaultConfigFile
	}
	return &Login{cfg: cfg}, nil
}

// Principal is who logs in.
func (l *Login) Principal() string { return l.cfg.Principal }
