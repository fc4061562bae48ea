package whatif

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/spec"
)

// Format and Version begin every recording.
const (
	Format  = "flinkscaler-samples"
	Version = 1
)

// Header is the first line of a recording: whose looks they are, and the layers
// of the policy that came from elsewhere than from the job.
type Header struct {
	Format     string      `json:"format"`
	Version    int         `json:"version"`
	RecordedAt time.Time   `json:"recordedAt"`
	Key        core.JobKey `json:"key"`
	Target     core.Target `json:"target"`
	// The policy's layers as they were given, without the job's own
	// configuration: that comes with the looks.
	CommandLine    map[string]string `json:"commandLine,omitempty"`
	Input          map[string]string `json:"input,omitempty"`
	ClusterDefault map[string]string `json:"clusterDefault,omitempty"`
}

// Recording is a job as it was looked at, oldest look first.
type Recording struct {
	Header Header
	// Looks leave out the graph and the configuration where they are as
	// before; the first has both.
	Looks []core.Observation
	// Cut is the last line where it is incomplete, as it is when whoever recorded
	// was killed; it is left out. 0 for none.
	Cut int
}

// HeaderLine is the first line of a recording.
func HeaderLine(h Header) ([]byte, error) {
	h.Format, h.Version = Format, Version
	return line(h)
}

// LookLine is the line of one look. The platform's own facts stay out: nobody
// knows what they hold.
func LookLine(o core.Observation) ([]byte, error) {
	o.Job.Extras = nil
	return line(o)
}

func line(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	return append(b, '\n'), err
}

// Parse reads a recording. Blank lines and those that begin with # are skipped, and
// so is a last one that is cut off.
// With problems the recording is not to be used.
func Parse(text []byte) (Recording, []core.Problem) {
	p := parser{}
	n := 0
	for raw := range bytes.Lines(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		n++
		whole := bytes.HasSuffix(raw, []byte("\n"))
		raw = bytes.TrimSpace(raw)
		if len(raw) == 0 || raw[0] == '#' {
			continue
		}
		if !whole && p.begun && raw[0] == '{' && !json.Valid(raw) {
			p.out.Cut = n
			break
		}
		p.line(fmt.Sprintf("line %d", n), raw)
		if p.hopeless {
			break
		}
	}
	switch {
	case !p.begun:
		p.bad("line 1", "has no header; a recording is made with --record")
	case len(p.problems) == 0 && len(p.out.Looks) == 0:
		p.bad(fmt.Sprintf("line %d", n), "has no look; the recording ends with its header")
	}
	return p.out, spec.Few(p.problems)
}

type parser struct {
	reader

	out Recording
	// begun is true behind the header; hopeless when the rest cannot make sense.
	begun, hopeless bool
	// unread is true once a look could not be read: what builds on it would
	// only seem to be wrong.
	unread   bool
	vertices []core.Vertex
	last     time.Time
}

func (p *parser) line(at string, raw []byte) {
	if !p.begun {
		p.begun = true
		p.header(at, raw)
		return
	}
	var o core.Observation
	before := len(p.problems)
	p.read(at, raw, &o)
	p.unread = p.unread || len(p.problems) > before
	if !p.unread {
		p.check(at, o)
	}
	p.out.Looks = append(p.out.Looks, o)
}

func (p *parser) header(at string, raw []byte) {
	var first struct {
		Format  *string `json:"format"`
		Version int     `json:"version"`
	}
	// Another format has other fields: what it is must be said before.
	err := json.Unmarshal(raw, &first)
	p.hopeless = true
	switch {
	case err != nil && !json.Valid(raw):
		p.bad(at, "is not JSON; the first line of a recording is its header")
	case first.Format == nil || *first.Format != Format:
		p.bad(join(at, "format"), fmt.Sprintf("must be %q: this is no recording of looks", Format))
	case first.Version != Version:
		p.bad(join(at, "version"), fmt.Sprintf("must be %d, got %d: the recording was made by another version of this program", Version, first.Version))
	default:
		p.hopeless = false
		p.read(at, raw, &p.out.Header)
		for name, v := range map[string]string{"key.cluster": p.out.Header.Key.Cluster, "key.job": p.out.Header.Key.Job} {
			if v == "" {
				p.bad(join(at, name), "is missing")
			}
		}
	}
}

// check finds what a decision could stumble over.
func (p *parser) check(at string, o core.Observation) {
	if o.Topology != nil {
		p.graph(join(at, "topology.vertices"), o.Topology.Vertices)
		p.vertices = o.Topology.Vertices
	}
	s := o.Sample
	switch {
	case s.At.IsZero():
		p.bad(join(at, "sample.at"), "is missing")
	case s.Fault == "" && s.At.Before(p.last):
		p.bad(join(at, "sample.at"), fmt.Sprintf("is before that of the look before, %s", p.last.Format(time.RFC3339)))
	}
	if s.Fault != "" {
		if !slices.ContainsFunc(core.Reasons(), func(r core.ReasonInfo) bool { return r.Reason == s.Fault }) {
			p.bad(join(at, "sample.fault"), fmt.Sprintf("unknown reason %q", s.Fault))
		}
		return
	}
	p.last = s.At
	for i, v := range s.Vertices {
		if !slices.ContainsFunc(p.vertices, func(x core.Vertex) bool { return x.ID == v.ID }) {
			p.bad(join(at, fmt.Sprintf("sample.v[%d].id", i)), fmt.Sprintf("%q is no vertex of the graph known so far", v.ID))
		}
	}
}

// graph checks a topology: everything here searches it by id.
func (p *parser) graph(at string, vertices []core.Vertex) {
	for i, v := range vertices {
		here := fmt.Sprintf("%s[%d]", at, i)
		switch {
		case v.ID == "":
			p.bad(here+".id", "is missing")
		case i > 0 && v.ID <= vertices[i-1].ID:
			p.bad(here+".id", fmt.Sprintf("vertices must be sorted by id, each once: %q comes after %q", v.ID, vertices[i-1].ID))
		}
		if v.Parallelism < 1 {
			p.bad(here+".p", fmt.Sprintf("must be at least 1, got %d", v.Parallelism))
		}
		if v.MaxParallelism < v.Parallelism {
			p.bad(here+".max", fmt.Sprintf("must be at least the parallelism (%d), got %d", v.Parallelism, v.MaxParallelism))
		}
		for j, e := range v.Inputs {
			if !slices.ContainsFunc(vertices, func(x core.Vertex) bool { return x.ID == e.From }) {
				p.bad(fmt.Sprintf("%s.in[%d].from", here, j), fmt.Sprintf("%q is no vertex of this graph", e.From))
			}
		}
	}
}

// join makes a path inside a line.
func join(path, key string) string {
	if strings.HasPrefix(path, "line ") && !strings.Contains(path, ": ") {
		return path + ": " + key
	}
	return path + "." + key
}
