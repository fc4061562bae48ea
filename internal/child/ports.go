package child

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports come from below the range that systems give out by themselves: one
// from that range could go to an outgoing connection while a server is down,
// and the server could not come back.
const (
	firstPort = 10_000
	lastPort  = 30_000
)

// FreePorts finds loopback ports that nobody listens on. Between this and their
// use somebody else may take one.
func FreePorts(count int) ([]int, error) {
	const tries = 1000
	var (
		ports []int
		held  []net.Listener
	)
	defer func() {
		for _, l := range held {
			_ = l.Close()
		}
	}()
	for range tries {
		if len(ports) == count {
			return ports, nil
		}
		port := firstPort + rand.IntN(lastPort-firstPort) //nolint:gosec // any free port will do
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue // taken
		}
		held, ports = append(held, l), append(ports, port) // held until all are found, so that none is found twice
	}
	return nil, fmt.Errorf("find %d free ports: only %d in %d tries", count, len(ports), tries)
}
