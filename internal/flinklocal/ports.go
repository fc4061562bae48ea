package flinklocal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are taken from below the range from which systems give out ports by themselves. A port from that range could go
// to somebody's outgoing connection while a JobManager is down, and the JobManager could not come back.
const (
	firstPort = 10_000
	lastPort  = 30_000
)

// freePorts finds ports that nobody listens on. Between this and their use somebody else may take one: see errPortTaken.
func freePorts(count int) ([]int, error) {
	const tries = 1000
	var ports []int
	var held []net.Listener
	defer func() {
		for _, listener := range held {
			_ = listener.Close()
		}
	}()
	for range tries {
		if len(ports) == count {
			return ports, nil
		}
		port := firstPort + rand.IntN(lastPort-firstPort)
		listener, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
		if err != nil {
			continue // taken: try another
		}
		held = append(held, listener) // until all are found, so that none is found twice
		ports = append(ports, port)
	}
	return nil, fmt.Errorf("find %d free ports on %s: only %d in %d tries", count, loopback, len(ports), tries)
}

// errPortTaken says that somebody took a port between freePorts and the process that wanted it.
var errPortTaken = errors.New("port taken by another program")
