package hdfs

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// lines are the connections of one call. All of them end with it, and with its ctx.
type lines struct {
	ctx     context.Context //nolint:containedctx // the library dials without one
	timeout time.Duration

	mu    sync.Mutex
	open  map[net.Conn]struct{}
	ended bool
	// lost is true once a NameNode was not reached, or its answer not read.
	lost atomic.Bool
	// heard counts what DataNodes have sent: how often, not how much.
	heard atomic.Int64
}

var (
	errEnded = errors.New("the call has ended")
	errNoRPC = errors.New("what answers is no NameNode; its RPC port is wanted")
)

// toNameNode dials one.
func (l *lines) toNameNode(_ context.Context, network, address string) (net.Conn, error) {
	c, err := l.dial(network, address)
	if err != nil {
		l.lost.Store(true)
		return nil, err
	}
	return &line{Conn: c, of: l, nameNode: true}, nil
}

// toDataNode dials one.
func (l *lines) toDataNode(_ context.Context, network, address string) (net.Conn, error) {
	c, err := l.dial(network, address)
	if err != nil {
		return nil, err
	}
	return &line{Conn: c, of: l}, nil
}

func (l *lines) dial(network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: l.timeout}).DialContext(l.ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		_ = c.Close()
		return nil, errEnded
	}
	l.open[c] = struct{}{}
	return c, nil
}

// end closes all connections; none is made any more.
func (l *lines) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	for c := range l.open {
		_ = c.Close()
	}
	clear(l.open)
}

// line is a connection on which each read and write has a deadline, and which is
// closed by the first error.
type line struct {
	net.Conn
	of       *lines
	nameNode bool
	answered bool
}

// Read reads within the time-out.
func (c *line) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.of.timeout)); err != nil {
		return 0, c.fail(err)
	}
	n, err := c.Conn.Read(b)
	if err == nil && c.nameNode && !c.answered && n > 0 {
		// The length of the answer comes first. One of 128 MB and more is none.
		if b[0] >= 0x08 {
			return 0, c.fail(errNoRPC)
		}
		c.answered = true
	}
	if n > 0 && !c.nameNode {
		c.of.heard.Add(1)
	}
	return n, c.fail(err)
}

// Write writes within the time-out.
func (c *line) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.of.timeout)); err != nil {
		return 0, c.fail(err)
	}
	n, err := c.Conn.Write(b)
	return n, c.fail(err)
}

func (c *line) fail(err error) error {
	if err != nil {
		_ = c.Conn.Close()
		if c.nameNode {
			c.of.lost.Store(true)
		}
	}
	return err
}

// Close closes it for good.
func (c *line) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c.Conn)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
