package flinksim

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"
)

// post runs the hooks around a request that stops or runs a job. It is called
// with the lock held, and lets go of it for the hooks.
func (c *Cluster) post(path string, do func(now time.Time) reply) reply {
	hook := func(f func(string) Unavailability) Unavailability {
		if f == nil {
			return Available
		}
		c.mu.Unlock()
		defer c.mu.Lock()
		return f(path)
	}
	if fault := hook(c.opt.BeforePost); fault != Available {
		return reply{fault: fault}
	}
	c.posts = append(c.posts, path)
	now := c.clock()
	c.run(now)
	rep := do(now)
	if fault := hook(c.opt.AfterPost); fault != Available {
		return reply{fault: fault}
	}
	return rep
}

func decodeBody(q *request, to any) bool {
	b, err := io.ReadAll(io.LimitReader(q.raw.Body, 1<<20))
	return err == nil && json.Unmarshal(b, to) == nil
}

// serveStop answers POST /jobs/:id/stop. A job that is not there shows in the
// result alone.
func (c *Cluster) serveStop(q *request) (reply, bool) {
	if q.method != http.MethodPost {
		return reply{}, false
	}
	var body struct {
		Directory string `json:"targetDirectory"`
		Trigger   string `json:"triggerId"`
	}
	if !decodeBody(q, &body) || (body.Trigger != "" && !hexPattern.MatchString(body.Trigger)) {
		return refuse(http.StatusBadRequest, "Request did not match expected format StopWithSavepointRequestBody."), true
	}
	now := c.enter()
	defer c.mu.Unlock()
	if body.Trigger == "" {
		body.Trigger = hexID("trigger", q.parts[1], now.String())
	}
	return c.post(q.path, func(now time.Time) reply {
		c.stop(q.parts[1], strings.ToLower(body.Trigger), body.Directory, now)
		return reply{status: http.StatusAccepted, body: map[string]string{"request-id": body.Trigger}}
	}), true
}

type stopBody struct {
	Status struct {
		ID string `json:"id"`
	} `json:"status"`
	Operation map[string]any `json:"operation"`
}

// serveStopped answers GET /jobs/:id/savepoints/:trigger.
func (c *Cluster) serveStopped(q *request) (reply, bool) {
	if q.method != http.MethodGet || len(q.parts) != 4 {
		return reply{}, false
	}
	c.enter()
	defer c.mu.Unlock()
	s := c.stops[q.parts[1]+"/"+strings.ToLower(q.parts[3])]
	var b stopBody
	b.Status.ID = "IN_PROGRESS"
	switch {
	case s == nil:
		return refuse(http.StatusNotFound, "There is no savepoint operation with triggerId="+q.parts[3]+" for job "+q.parts[1]+"."), true
	case !s.done:
		return ok(b), true
	case s.failure != "":
		const outer = "java.util.concurrent.CompletionException"
		b.Operation = map[string]any{"failure-cause": map[string]string{
			"class": outer, "stack-trace": trace(outer, checkpointClass) + "Caused by: " + trace(s.class, s.failure), "serialized-throwable": "rO0=",
		}}
	default:
		b.Operation = map[string]any{"location": s.location}
	}
	b.Status.ID = "COMPLETED"
	return ok(b), true
}

type jarEntry struct {
	Name        string  `json:"name"`
	Description *string `json:"description"`
}

type jarBody struct {
	ID       string     `json:"id"`
	Name     string     `json:"name"`
	Uploaded int64      `json:"uploaded"`
	Entry    []jarEntry `json:"entry"`
}

// serveJars answers GET /jars and POST /jars/:id/run.
func (c *Cluster) serveJars(q *request) (reply, bool) {
	switch {
	case len(q.parts) == 1 && q.method == http.MethodGet:
		c.enter()
		defer c.mu.Unlock()
		files := []jarBody{}
		for _, j := range c.jars {
			files = append(files, jarBody{j.id, j.name, millis(j.uploaded), []jarEntry{{Name: "sim.Main"}}})
		}
		return ok(map[string]any{"address": c.url, "files": files}), true
	case len(q.parts) == 3 && q.parts[2] == "run" && q.method == http.MethodPost:
		return c.serveRun(q), true
	}
	return reply{}, false
}

func (c *Cluster) serveRun(q *request) reply {
	var body runRequest
	if !decodeBody(q, &body) {
		return refuse(http.StatusBadRequest, "Request did not match expected format JarRunRequestBody.")
	}
	c.enter()
	defer c.mu.Unlock()
	return c.post(q.path, func(now time.Time) reply {
		var found *jar
		for _, j := range c.jars {
			if j.id == q.parts[1] {
				found = j
			}
		}
		if found == nil {
			return internal("java.util.concurrent.CompletionException", handlerException+": Jar file /upload/"+q.parts[1]+" does not exist")
		}
		id, err := c.runJar(found.main, body, now)
		if err != nil {
			const text = "Could not execute application."
			return errorReply(http.StatusBadRequest, trace(handlerException, text)+
				"Caused by: java.util.concurrent.CompletionException: org.apache.flink.util.FlinkRuntimeException: "+text+"\n\t... 1 more\nCaused by: "+err.Error()+"\n\t... 2 more\n")
		}
		out := map[string]string{"jobid": id}
		if c.opt.is23() {
			out["applicationId"] = id
		}
		return ok(out)
	})
}
