package operatortest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// ask sends a request to Flink and decodes the answer.
func (d *deployment) ask(method, path string, body, into any) error {
	var send io.Reader // Flink answers a GET that has a body with an exception
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		send = bytes.NewReader(b)
	}
	q, err := http.NewRequestWithContext(d.t.Context(), method, d.url+path, send)
	if err != nil {
		return err
	}
	q.Close = true // the JobManager behind the port may be another one next time
	q.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer func() { _ = a.Body.Close() }()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		return err
	}
	if a.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %d %.200s", method, path, a.StatusCode, text)
	}
	return json.Unmarshal(text, into)
}

// jobs are the ids of those that have not ended.
func (d *deployment) jobs() ([]string, error) {
	var a struct {
		Jobs []struct {
			ID    string `json:"jid"`
			State string `json:"state"`
		} `json:"jobs"`
	}
	if err := d.ask(http.MethodGet, "/jobs/overview", nil, &a); err != nil {
		return nil, err
	}
	var out []string
	for _, j := range a.Jobs {
		if j.State != "FINISHED" && j.State != "FAILED" && j.State != "CANCELED" {
			out = append(out, j.ID)
		}
	}
	return out, nil
}

type vertex struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Parallelism int    `json:"parallelism"`
}

func (d *deployment) vertices() ([]vertex, error) {
	var a struct {
		Vertices []vertex `json:"vertices"`
	}
	err := d.ask(http.MethodGet, "/jobs/"+d.read().status.Job.ID, nil, &a)
	return a.Vertices, err
}

func (d *deployment) findVertices() error {
	all, err := d.vertices()
	if err != nil {
		return err
	}
	for _, v := range all {
		switch {
		case strings.Contains(v.Name, d.rig.Source):
			d.source = v.ID
		case strings.Contains(v.Name, d.rig.Work):
			d.work = v.ID
		}
	}
	if d.source == "" || d.work == "" {
		return fmt.Errorf("no vertices %s and %s among %v", d.rig.Source, d.rig.Work, all)
	}
	return nil
}

// requirement is what Flink was asked for, for one vertex.
type requirement struct {
	Parallelism struct {
		Lower int `json:"lowerBound"`
		Upper int `json:"upperBound"`
	} `json:"parallelism"`
}

func (d *deployment) requirements() (map[string]requirement, error) {
	out := map[string]requirement{}
	err := d.ask(http.MethodGet, "/jobs/"+d.read().status.Job.ID+"/resource-requirements", nil, &out)
	return out, err
}

// require asks Flink for a size of work, past the operator.
func (d *deployment) require(work int) {
	d.t.Helper()
	all, err := d.requirements()
	if err != nil {
		d.t.Fatal(err)
	}
	r := all[d.work]
	r.Parallelism.Lower, r.Parallelism.Upper = 1, work
	all[d.work] = r
	if err := d.ask(http.MethodPut, "/jobs/"+d.read().status.Job.ID+"/resource-requirements", all, &struct{}{}); err != nil {
		d.t.Fatal(err)
	}
}

// awaitSizes waits until Flink was asked for these sizes, and has them.
func (d *deployment) awaitSizes(source, work int) {
	d.t.Helper()
	d.await(fmt.Sprintf("of sizes %d and %d", source, work), func() bool {
		wanted, err := d.requirements()
		if err != nil || wanted[d.source].Parallelism.Upper != source || wanted[d.work].Parallelism.Upper != work {
			return false
		}
		all, err := d.vertices()
		size := map[string]int{}
		for _, v := range all {
			size[v.ID] = v.Parallelism
		}
		return err == nil && size[d.source] == source && size[d.work] == work
	})
}
