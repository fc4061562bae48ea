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

// newTransport makes the package's own way to send requests. It takes no proxy
// from the environment: a JobManager is reached directly or not at all.
func newTransport(cfg Config, connections int) *http.Transport {
	dialer := &net.Dialer{KeepAlive: 30 * time.Second}
	return &http.Transport{
		DialContext: dialer.DialContext,
		DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return dialTLS(ctx, dialer, cfg, network, address)
		},
		MaxIdleConns:        0,
		MaxIdleConnsPerHost: connections,
		IdleConnTimeout:     idleConnections,
	}
}

// dialTLS reads the files for each connection, so that renewed certificates
// are used without a restart.
func dialTLS(ctx context.Context, dialer *net.Dialer, cfg Config, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	settings, err := cfg.tls(host)
	if err != nil {
		return nil, err
	}
	raw, err := dialer.DialContext(ctx, network, address)
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
