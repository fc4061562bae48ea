package flinksim

import "time"

// View is what a job really does at a moment: no cache, no fetch, no lie.
type View struct {
	At    time.Time `json:"at"`
	JobID string    `json:"jobId"`
	Name  string    `json:"name"`
	State string    `json:"state"`
	// TasksRunning is true when every task runs.
	TasksRunning bool      `json:"tasksRunning"`
	RunningSince time.Time `json:"runningSince,omitzero"`
	// Load arrives, in records/s; Lag waits in front of all sources; Read is
	// what the sources take in, in records/s.
	Load     float64      `json:"load"`
	LoadText string       `json:"loadText"`
	Lag      float64      `json:"lag"`
	Read     float64      `json:"read"`
	Vertices []VertexView `json:"vertices"`
	// Restarts count failures and rescales, Rescales the rescales alone.
	Restarts int `json:"restarts"`
	Rescales int `json:"rescales"`
	// Slots the job holds, of SlotsTotal with SlotsFree free.
	Slots      int `json:"slots"`
	SlotsTotal int `json:"slotsTotal"`
	SlotsFree  int `json:"slotsFree"`
	// Arrived and Done count records since the job was submitted; records
	// that were read again after a restart count once.
	Arrived float64 `json:"arrived"`
	Done    float64 `json:"done"`
}

// VertexView is a vertex in a View.
type VertexView struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Parallelism int    `json:"parallelism"`
	Lower       int    `json:"lower"`
	Upper       int    `json:"upper"`
	// Busy and BackPressured are ms in a second at this moment, the mean over
	// the subtasks; Rate is records/s taken in, Capacity what it could take.
	Busy          float64 `json:"busy"`
	BackPressured float64 `json:"backPressured"`
	Rate          float64 `json:"rate"`
	Capacity      float64 `json:"capacity"`
	// Records taken in since the last (re)start.
	Records float64 `json:"records"`
}

// View shows a job, by id or name.
func (c *Cluster) View(name string) (View, error) {
	now := c.enter()
	defer c.mu.Unlock()
	j, err := c.find(name)
	if err != nil {
		return View{}, err
	}
	return c.view(j, now), nil
}

// Views shows all jobs, in the order of their submission.
func (c *Cluster) Views() []View {
	now := c.enter()
	defer c.mu.Unlock()
	out := make([]View, 0, len(c.order))
	for _, j := range c.order {
		out = append(out, c.view(j, now))
	}
	return out
}

func (c *Cluster) view(j *job, now time.Time) View {
	j.advance(now)
	load, _ := j.loadAt(now)
	v := View{
		At: now, JobID: j.spec.ID, Name: j.spec.Name, State: string(j.state), TasksRunning: j.up, LoadText: j.load.String(),
		Restarts: j.restarts, Rescales: j.rescaled, Slots: j.held,
	}
	v.SlotsTotal, v.SlotsFree = c.slots()
	if j.state == running {
		v.RunningSince = j.stamps[running]
	}
	for i := range j.vertices {
		x := &j.vertices[i]
		e := VertexView{
			ID: x.spec.ID, Name: x.spec.Name, Parallelism: x.par, Lower: j.wanted[i].lower, Upper: j.wanted[i].upper,
			Rate: x.rateIn, Capacity: x.cap, Records: x.now.in,
		}
		if j.flowing() {
			e.Busy = x.rateIn / x.spec.Capacity / float64(x.par) * 1000
			if x.blocked {
				e.BackPressured = max(0, 1000-e.Busy)
			}
		}
		if x.source() {
			v.Load += load * x.spec.Share
			v.Lag += x.lag()
			v.Read += x.rateIn
			v.Arrived += x.arrived
			v.Done += x.offset
		}
		v.Vertices = append(v.Vertices, e)
	}
	return v
}
