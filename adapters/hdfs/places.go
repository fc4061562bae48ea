package hdfs

import (
	"fmt"
	"maps"
	"net"
	"path"
	"slices"
	"strings"

	"flinkscaler/core"
)

// Scheme is that of the URLs that a Storage reads.
const Scheme = "hdfs"

// defaultPort is where a NameNode listens when nobody says.
const defaultPort = "8020"

// places are the NameNodes by authority: a nameservice, or a host:port in lower
// case.
type places struct {
	nodes map[string][]string
	// incomplete are nameservices that are named and whose NameNodes are not.
	incomplete map[string]bool
	// first is the authority of a URL without one, empty for none; elsewhere is
	// fs.defaultFS where that is no HDFS.
	first, elsewhere string
}

// newPlaces finds the NameNodes that a configuration names.
func newPlaces(p properties, given map[string][]string) places {
	out := places{nodes: map[string][]string{}, incomplete: map[string]bool{}}
	for _, service := range p.list("dfs.nameservices") {
		out.add(service, p.nameNodes(service))
	}
	if single := p.get("dfs.namenode.rpc-address"); single != "" {
		out.add(endpoint(single), []string{endpoint(single)})
	}
	if fs := firstOf(p.get("fs.defaultFS"), p.get("fs.default.name")); fs != "" {
		out.defaultTo(fs)
	}
	for authority, nodes := range given {
		delete(out.incomplete, authority)
		out.add(authority, endpoints(nodes))
	}
	if out.first == "" && out.elsewhere == "" && len(given) == 1 {
		for authority := range given {
			out.first = authority
		}
	}
	// A NameNode can be asked directly too.
	for _, nodes := range maps.Clone(out.nodes) {
		for _, n := range nodes {
			if _, known := out.nodes[n]; !known {
				out.nodes[n] = []string{n}
			}
		}
	}
	return out
}

func (s *places) add(authority string, nodes []string) {
	if len(nodes) == 0 {
		s.incomplete[authority] = true
		return
	}
	if strings.Contains(authority, ":") {
		authority = endpoint(authority)
	}
	s.nodes[authority] = nodes
}

// defaultTo takes fs.defaultFS.
func (s *places) defaultTo(fs string) {
	authority, ok := strings.CutPrefix(fs, Scheme+"://")
	authority, _, _ = strings.Cut(authority, "/")
	if !ok || authority == "" {
		s.elsewhere = fs
		return
	}
	s.first = authority
	if _, known := s.nodes[authority]; !known && !s.incomplete[authority] {
		s.add(endpoint(authority), []string{endpoint(authority)})
	}
}

// nameNodes are the addresses of one nameservice, in their order.
func (p properties) nameNodes(service string) []string {
	const address = "dfs.namenode.rpc-address."
	var out []string
	for _, id := range p.list("dfs.ha.namenodes." + service) {
		if a := p.get(address + service + "." + id); a != "" {
			out = append(out, endpoint(a))
		}
	}
	if a := p.get(address + service); len(out) == 0 && a != "" {
		out = append(out, endpoint(a))
	}
	return out
}

// endpoint is host:port in lower case.
func endpoint(s string) string {
	s = strings.ToLower(s)
	if _, _, err := net.SplitHostPort(s); err != nil {
		return net.JoinHostPort(strings.Trim(s, "[]"), defaultPort)
	}
	return s
}

func endpoints(list []string) []string {
	out := make([]string, 0, len(list))
	for _, s := range list {
		out = append(out, endpoint(s))
	}
	return out
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// place is where something is: NameNodes to ask, and a path.
type place struct {
	authority string
	nodes     []string
	path      string
}

// split takes a URL apart as Flink writes it, which encodes nothing.
func split(url string) (authority, file string, ok bool) {
	rest, ok := strings.CutPrefix(url, Scheme+":")
	if !ok {
		return "", "", false
	}
	if host, has := strings.CutPrefix(rest, "//"); has {
		authority, rest, _ = strings.Cut(host, "/")
		rest = "/" + rest
	}
	if !strings.HasPrefix(rest, "/") {
		return "", "", false
	}
	return authority, path.Clean(rest), true
}

// find gives the NameNodes of a URL. core.ErrRefused: it is of another storage.
func (s places) find(url string) (place, error) {
	authority, file, ok := split(url)
	if !ok {
		return place{}, fmt.Errorf("%w: it is no URL of HDFS, such as hdfs://<nameservice>/<path>", core.ErrRefused)
	}
	if authority == "" {
		authority = s.first
	}
	if authority == "" {
		why := "and neither fs.defaultFS nor a single nameservice tells it"
		if s.elsewhere != "" {
			why = "and fs.defaultFS is " + s.elsewhere
		}
		return place{}, fmt.Errorf("%w: it names no nameservice, %s", core.ErrRefused, why)
	}
	for _, name := range []string{authority, endpoint(authority)} {
		if nodes := s.nodes[name]; len(nodes) > 0 {
			return place{authority: authority, nodes: nodes, path: file}, nil
		}
	}
	if s.incomplete[authority] {
		return place{}, fmt.Errorf("%w: of nameservice %s no NameNode is named (dfs.namenode.rpc-address.%s)", core.ErrRefused, authority, authority)
	}
	return place{}, fmt.Errorf("%w: %s is not one of the nameservices that this worker knows: %s", core.ErrRefused, authority, s.known())
}

func (s places) known() string { return strings.Join(slices.Sorted(maps.Keys(s.nodes)), ", ") }
