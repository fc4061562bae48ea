package hdfs

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	hdfs "github.com/colinmarc/hdfs/v2"
	"github.com/colinmarc/hdfs/v2/hadoopconf"

	"flinkscaler/core"
)

// answersWithin bounds a whole call, in answers: it asks for many things.
const answersWithin = 6

// client is the library's client of one call, and its connections.
type client struct {
	*hdfs.Client
	lines *lines
}

// ask runs what is asked of HDFS on the NameNode that is active. All that is asked
// here may be asked twice: the next NameNode is tried where one does not answer.
func ask[T any](ctx context.Context, s *Storage, at place, question func(client) (T, error)) (T, error) {
	var none T
	ctx, cancel := context.WithTimeout(ctx, answersWithin*s.cfg.Timeout)
	defer cancel()
	var silent []string
	for _, node := range s.inOrder(at) {
		got, other, err := askOne(ctx, s, node, question)
		switch {
		case ctx.Err() != nil:
			return none, fmt.Errorf("%w: %w", core.ErrUnreachable, context.Cause(ctx))
		case !other:
			s.remember(at, node)
			return got, err
		case meant(err):
			return none, err
		}
		silent = append(silent, node+": "+words(err))
	}
	return none, fmt.Errorf("%w: no NameNode of %s answers: %s", core.ErrUnreachable, at.authority, strings.Join(silent, "; "))
}

// askOne asks one NameNode. other is true where another one may know better.
func askOne[T any](ctx context.Context, s *Storage, node string, question func(client) (T, error)) (got T, other bool, err error) {
	options, err := s.options(ctx, node)
	if err != nil {
		return got, true, err
	}
	l := &lines{ctx: ctx, timeout: s.cfg.Timeout, open: map[net.Conn]struct{}{}}
	options.NamenodeDialFunc, options.DatanodeDialFunc = l.toNameNode, l.toDataNode
	stop := context.AfterFunc(ctx, l.end)
	defer stop()
	library, err := hdfs.NewClient(options)
	if err != nil {
		l.end()
		if !l.lost.Load() {
			err = s.notLetIn(options, err)
		}
		return got, true, err
	}
	defer func() {
		// First: Close waits for a question that is open, the renewal of leases among
		// them.
		l.end()
		_ = library.Close()
	}()
	got, err = question(client{Client: library, lines: l})
	return got, err != nil && (l.lost.Load() || elsewhere(err)), err
}

// elsewhere is true for the answer of a NameNode that does not serve.
func elsewhere(err error) bool {
	switch exception(err) {
	case standby, retriable:
		return true
	}
	return strings.Contains(err.Error(), "no available namenodes")
}

// options are those of a client of one NameNode.
func (s *Storage) options(ctx context.Context, node string) (hdfs.ClientOptions, error) {
	// The library's own reading of these few: one of them cannot be set otherwise.
	o := hdfs.ClientOptionsFromConf(hadoopconf.HadoopConf(maps.Clone(s.client)))
	o.Addresses = []string{node}
	o.UseDatanodeHostname = o.UseDatanodeHostname || s.cfg.DatanodeHostnames
	o.KerberosClient = nil
	if s.cfg.Login == nil {
		o.User = s.user
		return o, nil
	}
	host, _, err := net.SplitHostPort(node)
	if err != nil {
		return o, fmt.Errorf("%w: %s: %w", core.ErrRefused, node, err)
	}
	// The library would ask the KDC without a limit; so the ticket is there before.
	service := strings.Replace(o.KerberosServicePrincipleName, "/_HOST", "/"+host, 1)
	o.KerberosServicePrincipleName = service
	o.KerberosClient, err = s.cfg.Login.Client(ctx, service)
	return o, err
}

// notLetIn gives the error of a handshake that a NameNode refused its meaning, and
// drops the ticket: the NameNode may have new keys.
func (s *Storage) notLetIn(o hdfs.ClientOptions, err error) error {
	if o.KerberosClient == nil || !strings.Contains(err.Error(), "SASL handshake") {
		return err
	}
	s.cfg.Login.Forget(o.KerberosClient)
	return fmt.Errorf("%w: %s does not let %s in: %w", core.ErrUnauthorized, o.KerberosServicePrincipleName, s.who(), err)
}

// inOrder has the NameNode first that answered last.
func (s *Storage) inOrder(at place) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	nodes := slices.Clone(at.nodes)
	if i := slices.Index(nodes, s.active[at.authority]); i > 0 {
		nodes = slices.Concat(nodes[i:], nodes[:i])
	}
	return nodes
}

func (s *Storage) remember(at place, node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active[at.authority] = node
}
