package yarn_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// fakeApp is an application as a ResourceManager shows it.
type fakeApp struct {
	ID, User, Name, Queue, State, FinalStatus, Type, Tags, Address, Diagnostics string
	// Attempts is how often its ApplicationMaster was started, one time for none.
	Attempts int
}

func (a fakeApp) body() map[string]any {
	b := map[string]any{
		"id": a.ID, "user": a.User, "name": a.Name, "queue": a.Queue, "state": a.State, "finalStatus": a.FinalStatus, "progress": 100.0,
		"applicationType": a.Type, "applicationTags": a.Tags, "diagnostics": a.Diagnostics, "amHostHttpAddress": "127.0.0.1:1",
		"startedTime": 1795968218611, "finishedTime": 0, "runningContainers": 2, "allocatedMB": 1792, "allocatedVCores": 2,
	}
	if a.State == "ACCEPTED" {
		b["runningContainers"] = 0
	}
	if a.Address != "" {
		b["amRPCAddress"] = a.Address
	}
	return b
}

// attempts are those of its ApplicationMaster.
func (a fakeApp) attempts() map[string]any {
	var all []map[string]any
	for n := range max(1, a.Attempts) {
		all = append(all, map[string]any{"id": n + 1, "appAttemptId": fmt.Sprintf("%s_%06d", strings.Replace(a.ID, "application", "appattempt", 1), n+1)})
	}
	return map[string]any{"appAttempts": map[string]any{"appAttempt": all}}
}

// fakeRM answers as a ResourceManager does, by what was recorded from real ones.
type fakeRM struct {
	*httptest.Server
	mu   sync.Mutex
	apps map[string]fakeApp
	// odd answers first, where it is set; true: it has.
	odd func(w http.ResponseWriter, r *http.Request) bool
	// state is haState.
	state string
	seen  []string
}

func newRM(t *testing.T, apps ...fakeApp) *fakeRM {
	t.Helper()
	rm := &fakeRM{apps: map[string]fakeApp{}, state: "ACTIVE"}
	for _, a := range apps {
		rm.apps[a.ID] = a
	}
	rm.Server = httptest.NewServer(rm)
	t.Cleanup(rm.Close)
	return rm
}

// set changes the script.
func (f *fakeRM) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// app changes one application.
func (f *fakeRM) app(id string, change func(*fakeApp)) {
	f.set(func() {
		a := f.apps[id]
		change(&a)
		f.apps[id] = a
	})
}

// asked counts the requests whose line begins so.
func (f *fakeRM) asked(prefix string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, s := range f.seen {
		if strings.HasPrefix(s, prefix) {
			n++
		}
	}
	return n
}

func answerJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json;charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func answerText(w http.ResponseWriter, status int, kind, body string) {
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func (f *fakeRM) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.seen = append(f.seen, r.Method+" "+r.URL.RequestURI())
	odd, state := f.odd, f.state
	apps := maps.Clone(f.apps)
	f.mu.Unlock()
	if odd != nil && odd(w, r) {
		return
	}
	const api = "/ws/v1/cluster"
	switch path := r.URL.Path; {
	case path == api+"/info":
		answerJSON(w, 200, map[string]any{"clusterInfo": map[string]any{"haState": state, "resourceManagerVersion": "3.4.2", "state": "STARTED"}})
	case path == api+"/apps":
		listApps(w, r.URL.Query(), apps)
	case strings.HasPrefix(path, api+"/apps/"):
		id, attempts := strings.CutSuffix(strings.TrimPrefix(path, api+"/apps/"), "/appattempts")
		a, ok := apps[id]
		switch {
		case ok && attempts:
			answerJSON(w, 200, a.attempts())
			return
		case ok:
			answerJSON(w, 200, map[string]any{"app": a.body()})
			return
		}
		answerJSON(w, 404, map[string]any{"RemoteException": map[string]any{
			"exception": "NotFoundException", "message": "java.lang.Exception: app with id: " + id + " not found", "javaClassName": "org.apache.hadoop.yarn.webapp.NotFoundException",
		}})
	case strings.HasPrefix(path, "/proxy/"):
		proxyApp(w, r, apps)
	default:
		answerText(w, 404, "text/html", "<html>no such path</html>")
	}
}

// listApps filters as a ResourceManager does: tags are any of, without case.
func listApps(w http.ResponseWriter, query url.Values, apps map[string]fakeApp) {
	var out []map[string]any
	for _, id := range slices.Sorted(maps.Keys(apps)) {
		a := apps[id]
		fits := func(key, value string) bool {
			given := query.Get(key)
			return given == "" || slices.ContainsFunc(strings.Split(given, ","), func(s string) bool {
				return slices.ContainsFunc(strings.Split(value, ","), func(v string) bool { return strings.EqualFold(s, v) })
			})
		}
		if fits("states", a.State) && fits("applicationTypes", a.Type) && fits("applicationTags", a.Tags) {
			out = append(out, a.body())
		}
	}
	if len(out) == 0 {
		answerJSON(w, 200, map[string]any{"apps": map[string]any{}})
		return
	}
	answerJSON(w, 200, map[string]any{"apps": map[string]any{"app": out}})
}

// proxyApp is the web proxy: GET, HEAD and PUT pass for a running application.
func proxyApp(w http.ResponseWriter, r *http.Request, apps map[string]fakeApp) {
	id, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/proxy/"), "/")
	a, known := apps[id]
	switch {
	case r.Method == http.MethodPost || r.Method == http.MethodDelete:
		answerJSON(w, 405, map[string]string{"servlet": "proxy", "message": "HTTP method POST is not supported by this URL", "url": r.URL.Path, "status": "405"})
	case r.Method == http.MethodPatch:
		w.WriteHeader(501)
	case !known:
		answerText(w, 404, "text/html;charset=utf-8", "<html>Application could not be found</html>")
	case a.State != "RUNNING":
		w.Header().Set("Location", "/cluster/app/"+id)
		w.WriteHeader(302)
	default:
		proxy := &httputil.ReverseProxy{
			Rewrite: func(p *httputil.ProxyRequest) {
				p.Out.URL.Scheme, p.Out.URL.Host, p.Out.URL.Path, p.Out.URL.RawPath = "http", a.Address, "/"+rest, ""
			},
			ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
				answerText(w, 500, "text/html;charset=utf-8", fmt.Sprintf("<html>%v</html>", err))
			},
		}
		proxy.ServeHTTP(w, r)
	}
}
