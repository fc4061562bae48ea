package flink

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

// idleConnections are kept for longer than the usual pause between two looks
// at a job (60 s).
const idleConnections = 90 * time.Second

// Dial opens a connection, as net.Dialer does it.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// NewTransport makes the package's own way to send requests, with the TLS of a
// configuration, over connections that dial opens; nil is the ordinary way. It takes
// no proxy from the environment: a server is reached directly or not at all. A
// failure of dial is given back as it is.
func NewTransport(cfg Config, connections int, dial Dial) *http.Transport {
	if dial == nil {
		dial = (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext
	}
	return &http.Transport{
		DialContext: dial,
		DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return dialTLS(ctx, dial, cfg, network, address)
		},
		MaxIdleConns:        0,
		MaxIdleConnsPerHost: connections,
		IdleConnTimeout:     idleConnections,
	}
}

// dialTLS reads the files for each connection, so that renewed certificates
// are used without a restart.
func dialTLS(ctx context.Context, dial Dial, cfg Config, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	settings, err := cfg.tls(host)
	if err != nil {
		return nil, err
	}
	raw, err := dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	conn := tls.Client(raw, settings)
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	return conn, nil
}

// tls builds the settings of one connection from the files as they are now.
func (c Config) tls(host string) (*tls.Config, error) {
	out := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	if c.ServerName != "" {
		out.ServerName = c.ServerName
	}
	if c.CAFile != "" {
		pem, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("caFile: %w", err)
		}
		out.RootCAs = x509.NewCertPool()
		if !out.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New("caFile: holds no certificate in PEM form")
		}
	}
	if c.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("certFile and keyFile: %w", err)
		}
		out.Certificates = []tls.Certificate{pair}
	}
	return out, nil
}

func (c Config) checkTLS() []error {
	if (c.CertFile == "") != (c.KeyFile == "") {
		return []error{errors.New("certFile, keyFile: one needs the other")}
	}
	if _, err := c.tls(c.ServerName); err != nil {
		return []error{err}
	}
	return nil
}
