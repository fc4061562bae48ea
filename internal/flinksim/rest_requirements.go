package flinksim

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Write is one PUT of requirements.
type Write struct {
	At    time.Time `json:"at"`
	JobID string    `json:"jobId"`
	Job   string    `json:"job"` // the name, empty for an unknown id
	Body  string    `json:"body"`
	// Status is what was answered, 200 when it was taken. 0 while in flight.
	Status int    `json:"status"`
	Error  string `json:"error,omitempty"`
	// Bounds by vertex name, when it was taken.
	Bounds map[string]WriteBounds `json:"bounds,omitempty"`
}

// WriteBounds is what a PUT says of one vertex.
type WriteBounds struct {
	Lower int `json:"lower"`
	Upper int `json:"upper"`
}

// Writes are all PUTs so far, accepted or not, oldest first.
func (c *Cluster) Writes() []Write {
	c.enter()
	defer c.mu.Unlock()
	return append([]Write(nil), c.writes...)
}

type boundsBody struct {
	Parallelism struct {
		Lower int  `json:"lowerBound"`
		Upper *int `json:"upperBound"`
	} `json:"parallelism"`
}

func (c *Cluster) serveRequirements(q *request) (reply, bool) {
	switch q.method {
	case http.MethodGet:
		return c.getRequirements(q.parts[1]), true
	case http.MethodPut:
		body, err := io.ReadAll(io.LimitReader(q.raw.Body, 100<<20))
		if err != nil {
			return refuse(http.StatusBadRequest, "Bad request received."), true
		}
		q.body = body
		return c.putRequirements(q.parts[1], body), true
	}
	return reply{}, false
}

// scheduled is the error when a job cannot be asked for its requirements. A
// job that ended is as unknown to the dispatcher as one that never was.
func (j *job) scheduled(id string) *reply {
	if j == nil || j.state.ended() {
		r := internal("org.apache.flink.runtime.messages.FlinkJobNotFoundException", "Could not find Flink job ("+id+")")
		return &r
	}
	if j.spec.NotAdaptive {
		r := internal("java.lang.UnsupportedOperationException", "The DefaultScheduler does not support changing the parallelism without a job restart. This feature is currently only expected to work with the AdaptiveScheduler.")
		return &r
	}
	return nil
}

func (c *Cluster) getRequirements(id string) reply {
	c.enter()
	defer c.mu.Unlock()
	j := c.jobs[id]
	if rep := j.scheduled(id); rep != nil {
		return *rep
	}
	out := map[string]boundsBody{}
	for i, b := range j.wanted {
		var e boundsBody
		e.Parallelism.Lower, e.Parallelism.Upper = b.lower, &b.upper
		out[j.vertices[i].spec.ID] = e
	}
	return ok(out)
}

// putRequirements follows a PUT: decoding, the lock of the job, the hooks,
// validation, effect.
func (c *Cluster) putRequirements(id string, body []byte) reply {
	now := c.enter()
	defer c.mu.Unlock()
	w := Write{At: now, JobID: id, Body: string(body)}
	j := c.jobs[id]
	if j != nil {
		w.Job = j.spec.Name
	}
	c.writes = append(c.writes, w)
	at := len(c.writes) - 1
	done := func(rep reply) reply {
		e := &c.writes[at]
		e.Status = rep.status
		if b, isErr := rep.body.(errorsBody); isErr {
			e.Error, _, _ = strings.Cut(strings.Join(b.Errors, " "), "\n\tat ")
		}
		return rep
	}
	wanted, bad := decodeRequirements(body)
	if bad != nil {
		return done(*bad)
	}
	if j != nil && j.putting {
		return done(refuse(http.StatusConflict, "Another update to the job [%s] resource requirements is in progress."))
	}
	if rep := j.scheduled(id); rep != nil {
		return done(*rep)
	}
	if c.opt.Reactive {
		return done(internal("java.lang.UnsupportedOperationException", "Cannot change the parallelism of a job running in reactive mode."))
	}
	j.putting = true
	defer func() { j.putting = false }()
	if fault := c.hook(c.opt.BeforePut, w); fault != Available {
		return reply{fault: fault}
	}
	now = c.clock()
	c.run(now)
	if rep := j.scheduled(id); rep != nil { // it may have ended meanwhile
		return done(*rep)
	}
	b, problems := j.validate(wanted)
	if len(problems) > 0 {
		return done(refuse(http.StatusBadRequest, strings.Join(problems, "\n")))
	}
	j.advance(now)
	j.want(b, now)
	c.run(now)
	e := &c.writes[at]
	e.Status, e.Bounds = http.StatusOK, j.boundsByName()
	if fault := c.hook(c.opt.AfterPut, *e); fault != Available {
		return reply{fault: fault}
	}
	return done(ok(struct{}{}))
}

// hook runs one of the hooks without the lock.
func (c *Cluster) hook(do func(Write) Unavailability, w Write) Unavailability {
	if do == nil {
		return Available
	}
	c.mu.Unlock()
	defer c.mu.Lock()
	return do(w)
}

func (j *job) boundsByName() map[string]WriteBounds {
	m := map[string]WriteBounds{}
	for i, b := range j.wanted {
		m[j.vertices[i].spec.Name] = WriteBounds{b.lower, b.upper}
	}
	return m
}

func decodeRequirements(body []byte) (map[string]boundsBody, *reply) {
	noFormat := refuse(http.StatusBadRequest, "Request did not match expected format JobResourceRequirementsBody.")
	empty := refuse(http.StatusBadRequest, "Request body does not specify resource requirements.")
	if len(strings.TrimSpace(string(body))) == 0 {
		return nil, &empty
	}
	var m map[string]boundsBody
	if json.Unmarshal(body, &m) != nil {
		return nil, &noFormat
	}
	for id, b := range m {
		if b.Parallelism.Upper == nil || !hexPattern.MatchString(id) {
			return nil, &noFormat
		}
	}
	if len(m) == 0 {
		return nil, &empty
	}
	return m, nil
}

// validate gives the bounds of all vertices, or everything that Flink says
// against them.
func (j *job) validate(m map[string]boundsBody) ([]bounds, []string) {
	var problems []string
	out := make([]bounds, len(j.vertices))
	known := map[string]bool{}
	for i := range j.vertices {
		s := j.vertices[i].spec
		known[s.ID] = true
		e, have := m[s.ID]
		if !have {
			problems = append(problems, fmt.Sprintf("The request is incomplete, missing job vertex [%s] resource requirements.", s.ID))
			continue
		}
		b := bounds{e.Parallelism.Lower, *e.Parallelism.Upper}
		if b.lower == -1 {
			b.lower = 1
		}
		if b.upper == -1 {
			b.upper = s.MaxParallelism
		}
		out[i] = b
		problems = append(problems, b.problems(s)...)
	}
	for id := range m {
		if !known[id] {
			problems = append(problems, fmt.Sprintf("Job vertex [%s] was not found in the JobGraph.", id))
		}
	}
	return out, problems
}

func (b bounds) problems(s VertexSpec) []string {
	switch {
	case b.lower < 1 || b.upper < 1:
		return []string{fmt.Sprintf("Both, the requested lower bound [%d] and upper bound [%d] for job vertex [%s] must be greater than zero.", b.lower, b.upper, s.ID)}
	case b.lower > b.upper:
		return []string{fmt.Sprintf("The requested lower bound [%d] for job vertex [%s] is higher than the upper bound [%d].", b.lower, s.ID, b.upper)}
	case b.upper > s.MaxParallelism:
		return []string{fmt.Sprintf("The newly requested parallelism %d for the job vertex %s exceeds its maximum parallelism %d.", b.upper, s.ID, s.MaxParallelism)}
	}
	return nil
}
