package flinksim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// maxLine is Netty's limit for the first line of a request.
const maxLine = 4096

// reply is an answer: a status and what becomes the JSON.
type reply struct {
	status int
	body   any
	fault  Unavailability // instead of an answer
}

func ok(body any) reply { return reply{status: http.StatusOK, body: body} }

// request is what handlers need of an HTTP request.
type request struct {
	method string
	path   string   // without /v1
	parts  []string // of path
	query  url.Values
	body   []byte
	raw    *http.Request
}

// Handler serves Flink's REST API and /sim/.
func (c *Cluster) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/sim/") {
			c.serveSim(w, r)
			return
		}
		c.tick()
		if c.unavailable(w, r) {
			return
		}
		rep := c.serve(r)
		if rep.fault != Available {
			c.mu.Lock()
			over := c.modeOver
			c.mu.Unlock()
			c.breakOff(w, r, rep.fault, over)
			return
		}
		write(w, rep)
	})
}

func (c *Cluster) tick() {
	if c.opt.Tick > 0 && !c.opt.Start.IsZero() {
		c.Advance(c.opt.Tick)
	}
}

func write(w http.ResponseWriter, rep reply) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	b, err := json.Marshal(rep.body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.WriteHeader(rep.status)
	_, _ = w.Write(b)
}

// errorsBody is Flink's answer to what it does not like.
type errorsBody struct {
	Errors []string `json:"errors"`
}

func errorReply(status int, texts ...string) reply {
	return reply{status: status, body: errorsBody{texts}}
}

const handlerException = "org.apache.flink.runtime.rest.handler.RestHandlerException"

// refuse is an error that a handler throws: class, text, stack trace.
func refuse(status int, text string) reply {
	return errorReply(status, trace(handlerException, text))
}

func trace(class, text string) string {
	return class + ": " + text +
		"\n\tat org.apache.flink.runtime.rest.handler.AbstractRestHandler.respondToRequest(AbstractRestHandler.java:84)" +
		"\n\tat org.apache.flink.runtime.rest.handler.AbstractHandler.respondAsLeader(AbstractHandler.java:196)" +
		"\n\tat java.base/java.lang.Thread.run(Unknown Source)\n"
}

// internal is an error that no handler expects.
func internal(class, text string) reply {
	return errorReply(http.StatusInternalServerError, "Internal server error.",
		"<Exception on server side:\n"+trace(class, text)+"\nEnd of exception on server side>")
}

func noFile(path string) reply {
	return errorReply(http.StatusNotFound, "Unable to load requested file "+path+".")
}

func jobNotFound(id string) reply {
	return errorReply(http.StatusNotFound,
		trace("org.apache.flink.runtime.rest.NotFoundException", "Job "+id+" not found")+
			"Caused by: org.apache.flink.runtime.messages.FlinkJobNotFoundException: Could not find Flink job ("+id+")\n")
}

// serve finds the handler of a path.
func (c *Cluster) serve(r *http.Request) reply {
	if len(r.URL.RequestURI()) > maxLine {
		return noFile("/bad-request")
	}
	q := request{method: r.Method, path: strings.TrimPrefix(r.URL.Path, "/v1"), query: r.URL.Query(), raw: r}
	q.parts = strings.Split(strings.Trim(q.path, "/"), "/")
	missing := noFile(r.URL.Path)
	if r.Method != http.MethodGet {
		missing = errorReply(http.StatusNotFound, "Not found: "+r.URL.RequestURI())
	}
	rep, found := reply{}, false
	switch q.parts[0] {
	case "jobs":
		rep, found = c.serveJobs(&q)
	case "taskmanagers":
		rep, found = c.serveTaskManagers(&q)
	case "jars":
		rep, found = c.serveJars(&q)
	default:
		rep, found = c.serveCluster(&q)
	}
	if !found {
		return missing
	}
	return rep
}

// cancelMode reads the mode of a PATCH; cancel is the default.
func cancelMode(q *request) (reply, bool) {
	m := q.query.Get("mode")
	if m == "" || m == "cancel" {
		return reply{}, true
	}
	return badParameter("query", "mode", m), false
}

func badParameter(where, name, value string) reply {
	return refuse(http.StatusBadRequest, fmt.Sprintf(
		"Bad request, could not parse parameters: Cannot resolve %s parameter (%s) from value %q.", where, name, value))
}

var hexPattern = regexp.MustCompile(`^[0-9a-fA-F]{32}$`) //nolint:gochecknoglobals // a constant

// millis is a moment as Flink writes it: ms, or 0 for never.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
