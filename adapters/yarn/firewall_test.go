package yarn_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"flinkscaler/adapters/flink"
)

// firewall refuses connections to an address.
func firewall(address string) flink.Dial {
	g := &gate{address: address, closed: true}
	return g.dial
}

// gate is a firewall that can open.
type gate struct {
	address string
	mu      sync.Mutex
	closed  bool
	tried   int
}

func (g *gate) shut(closed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = closed
}

// tries counts the attempts to pass.
func (g *gate) tries() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tried
}

func (g *gate) dial(ctx context.Context, network, to string) (net.Conn, error) {
	if to == g.address {
		g.mu.Lock()
		g.tried++
		closed := g.closed
		g.mu.Unlock()
		if closed {
			return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("no route to host")}
		}
	}
	return (&net.Dialer{}).DialContext(ctx, network, to)
}

// scripted leads every connection to a server that answers so, without a network.
func scripted(t *testing.T, answer http.HandlerFunc) flink.Dial {
	t.Helper()
	return func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer func() { _ = server.Close() }()
			r, err := http.ReadRequest(bufio.NewReader(server))
			if err != nil {
				return
			}
			w := httptest.NewRecorder()
			answer(w, r)
			res := w.Result()
			res.ContentLength, res.Close = int64(w.Body.Len()), true
			_ = res.Write(server)
		}()
		return client, nil
	}
}
