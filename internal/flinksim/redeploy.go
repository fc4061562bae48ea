package flinksim

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Main is the main method of a program: it makes a job of its arguments.
// Vertices without a parallelism get the one that the program is run with.
type Main func(args []string) (JobSpec, error)

// jar is an uploaded program.
type jar struct {
	id, name string
	uploaded time.Time
	main     Main
}

// AddJar uploads a program and gives its id.
func (c *Cluster) AddJar(name string, main Main) string {
	now := c.enter()
	defer c.mu.Unlock()
	id := hexID("jar", name, fmt.Sprint(len(c.jars)))[:8] + "_" + name
	c.jars = append(c.jars, &jar{id, name, now, main})
	return id
}

// RemoveJars deletes all uploaded programs, as a JobManager that was replaced
// has none.
func (c *Cluster) RemoveJars() {
	c.enter()
	defer c.mu.Unlock()
	c.jars = nil
}

// Posts are the paths of all requests that stopped or ran a job and came as far
// as the JobManager, oldest first.
func (c *Cluster) Posts() []string {
	c.enter()
	defer c.mu.Unlock()
	return append([]string(nil), c.posts...)
}

// stopping is one stop with a savepoint.
type stopping struct {
	done     bool
	location string
	class    string // of the failure
	failure  string
}

// ForgetStops loses all results of stops, as a JobManager that was replaced has.
func (c *Cluster) ForgetStops() {
	c.enter()
	defer c.mu.Unlock()
	c.stops = map[string]*stopping{}
}

const (
	jobNotFoundClass = "org.apache.flink.runtime.messages.FlinkJobNotFoundException"
	checkpointClass  = "org.apache.flink.runtime.checkpoint.CheckpointException"
)

// stop begins a stop, or attaches to the one with the same trigger.
func (c *Cluster) stop(id, trigger, target string, now time.Time) {
	key := id + "/" + trigger
	if c.stops[key] != nil {
		return
	}
	s := &stopping{}
	c.stops[key] = s
	j := c.jobs[id]
	if j == nil || j.state.ended() {
		s.fail(jobNotFoundClass, "Could not find Flink job ("+id+")")
		return
	}
	p := &checkpoint{id: j.checkpoints.count.id + 1, trigger: now, subtasks: j.tasks(), savepoint: true}
	j.checkpoints.count.id++
	j.checkpoints.history = append(j.checkpoints.history, p)
	attempt := j.attempt
	c.when(now.Add(c.opt.SavepointTime), func(at time.Time) {
		j.advance(at)
		p.end = at
		switch problem := j.savepoint(p, attempt, target, trigger); {
		case problem != "":
			p.failure = problem
			s.fail(checkpointClass, problem)
		default:
			p.done = true
			j.checkpoints.savepoint = p
			s.done, s.location = true, p.path
			_ = j.end(finished, at)
		}
	})
}

func (s *stopping) fail(class, text string) {
	s.done, s.class, s.failure = true, class, text
}

// saved is what the metadata of a savepoint hold, and beside it what another
// cluster needs to let the load of the job go on: what had arrived by then.
type saved struct {
	Job       string             `json:"job"`
	ID        int64              `json:"id"`
	Offsets   map[string]float64 `json:"offsets"`
	Arrived   map[string]float64 `json:"arrived"`
	At        time.Time          `json:"at"`
	Load      string             `json:"load"`
	LoadSince time.Time          `json:"loadSince"`
}

// savepoint writes the state of a running job, or says why it cannot.
func (j *job) savepoint(p *checkpoint, attempt int, target, trigger string) string {
	switch {
	case j.state != running || !j.up || j.attempt != attempt:
		return "Checkpoint Coordinator is suspending."
	case j.checkpoints.mode != CheckpointsOK:
		return "Asynchronous task checkpoint failed."
	}
	dir, err := localPath(target)
	if err != nil {
		return "An Exception occurred while triggering the checkpoint. IO-problem detected."
	}
	name := "savepoint-" + j.spec.ID[:6] + "-" + hexID("savepoint", trigger)[:12]
	p.path = "file:" + filepath.Join(dir, name)
	for i := range j.vertices {
		v := &j.vertices[i]
		v.saved = v.offset
	}
	if j.write(filepath.Join(dir, name), j.lastSaved(p.id, p.end)) != nil {
		return "Failed to create savepoint directory at file:" + dir
	}
	return ""
}

// lastSaved is what the job would begin with again, and what had arrived.
func (j *job) lastSaved(id int64, now time.Time) saved {
	s := saved{
		Job: j.spec.ID, ID: id, Offsets: map[string]float64{}, Arrived: map[string]float64{},
		At: now, Load: j.load.String(), LoadSince: j.loadSince,
	}
	for i := range j.vertices {
		v := &j.vertices[i]
		s.Offsets[v.spec.ID], s.Arrived[v.spec.ID] = v.saved, v.arrived
	}
	return s
}

// write makes a folder with metadata, as Flink does.
func (j *job) write(folder string, s saved) error {
	body, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("flinksim: state of job %s: %w", j.spec.ID, err)
	}
	version := byte(6)
	if !j.c.opt.is23() {
		version = 4
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return fmt.Errorf("flinksim: state of job %s: %w", j.spec.ID, err)
	}
	head := []byte{0x49, 0x60, 0x67, 0x2d, 0, 0, 0, version}
	if err := os.WriteFile(filepath.Join(folder, "_metadata"), append(head, body...), 0o600); err != nil {
		return fmt.Errorf("flinksim: state of job %s: %w", j.spec.ID, err)
	}
	return nil
}

// Keep writes what a job's last checkpoint holds into a folder, for SubmitFrom:
// with HA it outlives the JobManager.
func (c *Cluster) Keep(name, folder string) error {
	return c.control(name, func(j *job, now time.Time) error {
		return j.write(folder, j.lastSaved(j.checkpoints.count.id, now))
	})
}

func localPath(place string) (string, error) {
	if filepath.IsAbs(place) {
		return place, nil
	}
	u, err := url.Parse(place)
	if err != nil || u.Scheme != "file" || !filepath.IsAbs(u.Path) {
		return "", errors.New("no local path")
	}
	return u.Path, nil
}

// load reads a savepoint.
func loadSavepoint(place string) (saved, error) {
	//lint:ignore ST1005 Flink's words
	missing := fmt.Errorf("java.io.FileNotFoundException: Cannot find checkpoint or savepoint file/directory '%s' on file system 'file'.", place)
	dir, err := localPath(place)
	if err != nil {
		return saved{}, missing
	}
	b, err := os.ReadFile(filepath.Join(dir, "_metadata"))
	if err != nil {
		return saved{}, missing
	}
	var s saved
	if len(b) < 8 || json.Unmarshal(b[8:], &s) != nil {
		return saved{}, errors.New("java.io.IOException: Unexpected magic number")
	}
	return s, nil
}

// runRequest is the body of a run.
type runRequest struct {
	Args        []string          `json:"programArgsList"`
	Parallelism int               `json:"parallelism"`
	JobID       string            `json:"jobId"`
	Savepoint   string            `json:"savepointPath"`
	Config      map[string]string `json:"flinkConfiguration"`
}

// runJar runs a program. The error is Flink's text of the innermost cause.
func (c *Cluster) runJar(m Main, r runRequest, now time.Time) (string, error) {
	s, err := m(r.Args)
	if err != nil {
		return "", fmt.Errorf("java.lang.IllegalArgumentException: %w", err)
	}
	if len(s.Vertices) == 0 {
		s.Vertices = DefaultVertices()
	}
	overrides := map[string]string{}
	for pair := range strings.SplitSeq(r.Config["pipeline.jobvertex-parallelism-overrides"], ",") {
		id, p, _ := strings.Cut(pair, ":")
		overrides[id] = p
	}
	for i := range s.Vertices {
		v := &s.Vertices[i]
		if v.Parallelism == 0 {
			v.Parallelism = max(1, r.Parallelism)
		}
		// From 2.0 on Flink ignores them for a program that is run over REST.
		if p, ok := overrides[v.withDefaults().ID]; ok && !c.opt.is23() {
			_, _ = fmt.Sscan(p, &v.Parallelism)
		}
	}
	s.ID = r.JobID
	if c.jobs[s.ID] != nil {
		//lint:ignore ST1005 Flink's words
		return "", errors.New("org.apache.flink.runtime.client.DuplicateJobSubmissionException: Job has already been submitted.")
	}
	if r.Savepoint == "" {
		return c.submit(s, now, now)
	}
	return c.submitFrom(s, r.Savepoint, now)
}

// SubmitFrom submits a job that begins with what a savepoint holds, of this
// cluster or of another one. Without a load of its own it goes on with the load
// of the job that was saved, and what arrived meanwhile waits. A savepoint that
// cannot be read leaves a job that FAILED, and is the error.
func (c *Cluster) SubmitFrom(s JobSpec, savepoint string) (string, error) {
	now := c.enter()
	defer c.mu.Unlock()
	return c.submitFrom(s, savepoint, now)
}

func (c *Cluster) submitFrom(s JobSpec, savepoint string, now time.Time) (string, error) {
	from, unreadable := loadSavepoint(savepoint)
	old := c.jobs[from.Job]
	since := now
	if old != nil {
		old.advance(now)
		from.Arrived, from.At = map[string]float64{}, now
		for i := range old.vertices {
			from.Arrived[old.vertices[i].spec.ID] = old.vertices[i].arrived
		}
		since = old.loadSince
		if s.Load == nil {
			s.Load = old.load
		}
	} else if l, err := ParseLoad(from.Load); err == nil && s.Load == nil {
		s.Load, since = l, from.LoadSince
	}
	id, err := c.submit(s, now, since)
	if err != nil {
		return "", err
	}
	j := c.jobs[id]
	if unreadable != nil {
		j.exception(now, "org.apache.flink.runtime.client.JobInitializationException", "Could not start the JobMaster.")
		_ = j.end(failed, now)
		return "", unreadable
	}
	j.restoreFrom(from, savepoint, now)
	return id, nil
}

// restoreFrom puts the sources where the savepoint says; what arrived meanwhile
// waits.
func (j *job) restoreFrom(s saved, path string, now time.Time) {
	meanwhile := j.arrivals(s.At, now)
	for i := range j.vertices {
		v := &j.vertices[i]
		v.offset, v.saved = s.Offsets[v.spec.ID], s.Offsets[v.spec.ID]
		v.arrived = v.offset
		if arrived, known := s.Arrived[v.spec.ID]; known && v.source() {
			v.arrived = arrived + meanwhile*v.spec.Share
		}
	}
	c := &j.checkpoints
	c.restored, c.restoredAt = &checkpoint{id: s.ID, path: path, savepoint: true, done: true}, now
	c.count.restored++
}

// arrivals is how many records the job's load gives from one moment to another.
func (j *job) arrivals(from, to time.Time) float64 {
	total := 0.0
	for from.Before(to) && !from.IsZero() {
		rate, until := j.loadAt(from)
		end := earlier(to, until)
		total += rate * end.Sub(from).Seconds()
		from = end
	}
	return total
}
