package kubelocal

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"time"

	"flinkscaler/internal/child"
)

// askTimeout bounds one question whether a program is ready; the next one follows at once.
const askTimeout = 5 * time.Second

// WaitReady waits until the API server serves, after it, or etcd, was launched again.
func (p *Plane) WaitReady(ctx context.Context) error {
	return p.await(ctx, p.apiServer, p.layout.apiHealth())
}

// await waits until a program says that it is ready. It fails at once when the program ends.
func (p *Plane) await(ctx context.Context, c *child.Process, at endpoint) error {
	ctx, cancel := context.WithTimeout(ctx, p.options.WaitTimeout)
	defer cancel()
	err := child.WaitFor(ctx, c.Name(), func(ctx context.Context) (string, bool, error) {
		for _, needed := range []*child.Process{p.etcd, c} {
			if !needed.Alive() {
				return "", false, died(needed)
			}
		}
		state, ok := at.ready(ctx)
		return state, ok, nil
	})
	if err != nil && c.Alive() {
		return fmt.Errorf("%w\n%s", err, c.Tail())
	}
	return err
}

// died tells a port that was taken meanwhile from other reasons: with other ports, the former goes away.
func died(c *child.Process) error {
	if c.Wrote("address already in use") {
		return fmt.Errorf("%s ended: %w", c.Name(), errPortTaken)
	}
	return fmt.Errorf("%s ended with exit code %d\n%s", c.Name(), c.ExitCode(), c.Tail())
}

func (e endpoint) ready(ctx context.Context) (state string, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	client, err := e.client()
	if err != nil {
		return err.Error(), false
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url, nil)
	if err != nil {
		return err.Error(), false
	}
	response, err := client.Do(request)
	if err != nil {
		return err.Error(), false
	}
	_ = response.Body.Close()
	return response.Status, response.StatusCode == http.StatusOK
}

// client trusts the program's own certificate and no other, so that nobody else on that port is taken for it.
func (e endpoint) client() (*http.Client, error) {
	content, err := os.ReadFile(e.certificate)
	if err != nil {
		return nil, err
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("%s: no certificate in it yet", e.certificate)
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}}}, nil
}
