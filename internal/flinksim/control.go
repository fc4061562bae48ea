package flinksim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// order is the body of a POST to /sim/.
type order struct {
	Job    string `json:"job"`
	Load   string `json:"load"`
	Slots  *int   `json:"slots"`
	Action string `json:"action"`
	Cause  string `json:"cause"`
	Mode   string `json:"mode"`
	Fault  string `json:"fault"`
	On     *bool  `json:"on"`
	By     string `json:"by"`
}

// serveSim answers the simulator's own paths.
func (c *Cluster) serveSim(w http.ResponseWriter, r *http.Request) {
	what := strings.TrimPrefix(r.URL.Path, "/sim/")
	if r.Method == http.MethodGet {
		c.look(w, r, what)
		return
	}
	if r.Method != http.MethodPost {
		write(w, errorReply(http.StatusMethodNotAllowed, "GET or POST"))
		return
	}
	var o order
	dec := json.NewDecoder(io.LimitReader(r.Body, 1<<20))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&o); err != nil {
		write(w, errorReply(http.StatusBadRequest, err.Error()))
		return
	}
	answer, err := c.obey(what, o)
	switch {
	case errors.Is(err, errNoJob):
		write(w, errorReply(http.StatusNotFound, err.Error()))
	case err != nil:
		write(w, errorReply(http.StatusBadRequest, err.Error()))
	default:
		write(w, ok(answer))
	}
}

func (c *Cluster) look(w http.ResponseWriter, r *http.Request, what string) {
	switch what {
	case "view":
		job := r.URL.Query().Get("job")
		if job == "" {
			write(w, ok(c.Views()))
			return
		}
		v, err := c.View(job)
		if err != nil {
			write(w, errorReply(http.StatusNotFound, err.Error()))
			return
		}
		write(w, ok(v))
	case "writes":
		write(w, ok(append([]Write{}, c.Writes()...)))
	default:
		write(w, errorReply(http.StatusNotFound, "known are view, writes; and by POST load, slots, job, checkpoints, fault, advance"))
	}
}

func (c *Cluster) obey(what string, o order) (any, error) {
	done := map[string]string{"status": "ok"}
	switch what {
	case "load":
		l, err := ParseLoad(o.Load)
		if err != nil {
			return nil, err
		}
		return done, c.SetLoad(o.Job, l)
	case "slots":
		if o.Slots == nil || *o.Slots < 0 {
			return nil, errors.New("slots: must be 0 or more")
		}
		c.SetSlots(*o.Slots)
		return done, nil
	case "job":
		return c.act(o)
	case "checkpoints":
		return done, c.SetCheckpoints(o.Job, CheckpointMode(o.Mode))
	case "fault":
		return done, c.fault(o)
	case "advance":
		d, err := time.ParseDuration(o.By)
		if err != nil {
			return nil, fmt.Errorf("by: %w", err)
		}
		c.Advance(d)
		return done, nil
	}
	return nil, fmt.Errorf("unknown path /sim/%s, known are load, slots, job, checkpoints, fault, advance", what)
}

func (c *Cluster) act(o order) (any, error) {
	answer := map[string]string{"status": "ok"}
	var err error
	switch o.Action {
	case "cancel":
		err = c.CancelJob(o.Job)
	case "fail":
		err = c.FailJob(o.Job, o.Cause)
	case "restart":
		err = c.RestartJob(o.Job, o.Cause)
	case "resubmit":
		answer["jobId"], err = c.Resubmit(o.Job)
	default:
		err = fmt.Errorf("action %q: known are cancel, fail, restart, resubmit", o.Action)
	}
	return answer, err
}

func (c *Cluster) fault(o order) error {
	on := o.On == nil || *o.On
	switch o.Fault {
	case "hang-taskmanager":
		c.HangTaskManager(on)
	case "lose-taskmanager":
		c.LoseTaskManager()
	case "restore-taskmanager":
		c.RestoreTaskManager()
	case "unavailable":
		mode := Unavailability(o.Mode)
		if !on {
			mode = Available
		} else if mode == Available {
			mode = NoLeader
		}
		return c.setUnavailable(mode)
	default:
		return fmt.Errorf("fault %q: known are hang-taskmanager, lose-taskmanager, restore-taskmanager, unavailable", o.Fault)
	}
	return nil
}
