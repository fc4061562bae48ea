package yarn_test

import (
	"context"
	"errors"
	"net"

	"flinkscaler/adapters/flink"
)

// firewall refuses connections to addresses.
func firewall(addresses ...string) flink.Dial {
	return func(ctx context.Context, network, to string) (net.Conn, error) {
		for _, a := range addresses {
			if a == to {
				return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("no route to host")}
			}
		}
		return (&net.Dialer{}).DialContext(ctx, network, to)
	}
}
