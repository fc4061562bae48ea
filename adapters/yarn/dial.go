package yarn

import (
	"context"
	"net"
	"time"

	"flinkscaler/adapters/flink"
)

// dialError is a connection that was not made: nothing was sent.
type dialError struct{ err error }

func (e *dialError) Error() string { return "no connection: " + cut(e.err.Error()) }
func (e *dialError) Unwrap() error { return e.err }

// marked lets failures to connect be told from those of a request.
func marked(dial flink.Dial) flink.Dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, &dialError{err}
		}
		return conn, nil
	}
}

// dialLimit bounds one attempt to connect to an application. A firewall that drops
// packets must leave time for the other way.
const dialLimit = 3 * time.Second

func briefly(dial flink.Dial) flink.Dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, dialLimit)
		defer cancel()
		return dial(ctx, network, address)
	}
}

// dial is the ordinary way to connect, or that of a test.
func (c Config) dial() flink.Dial {
	if c.Dial != nil {
		return c.Dial
	}
	return (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext
}
