package yarn_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"flinkscaler/adapters/yarn"
	"flinkscaler/core"
)

// recordedBodies are the bodies that were recorded, as seeds.
func recordedBodies(f *testing.F) [][]byte {
	f.Helper()
	files, err := filepath.Glob("testdata/*/*")
	if err != nil || len(files) < 20 {
		f.Fatalf("%d recorded bodies, %v", len(files), err)
	}
	var out [][]byte
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if len(b) < 1<<14 {
			out = append(out, b)
		}
	}
	return out
}

// FuzzLocate: no answer makes a job not there but a well-formed list without it.
// Errors have a meaning, and one of them.
func FuzzLocate(f *testing.F) {
	for _, b := range recordedBodies(f) {
		f.Add(200, "application/json", "", b)
		f.Add(404, "application/json", "", b)
		f.Add(307, "text/plain", "http://rm2.example:8088/ws/v1/cluster/apps", b)
	}
	for _, s := range []string{`{"apps":null}`, `{"apps":{}}`, `{"apps":[]}`, `{"apps":{"app":{}}}`, `{"apps":{"app":[]}}`, `{"Apps":{}}`, `{"apps":[[]]}`, "There is no active RM right now.", ""} {
		f.Add(200, "application/json;charset=utf-8", "", []byte(s))
		f.Add(200, "text/html", "", []byte(s))
		f.Add(302, "", "/cluster", []byte(s))
	}
	f.Fuzz(func(t *testing.T, status int, kind, location string, body []byte) {
		if status < 200 || status > 599 {
			return
		}
		c := open(t, yarn.Config{ResourceManagers: []string{"http://rm.invalid"}, Timeout: 5 * time.Second, Dial: scripted(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"], w.Header()["Location"] = []string{kind}, []string{location}
			w.WriteHeader(status)
			_, _ = w.Write(body)
		})})
		_, err := c.Locate(t.Context(), named("no application is called like this"))
		switch {
		case err == nil:
			t.Errorf("found something in %d %q", status, body)
		case errors.Is(err, core.ErrNotFound) && (status/100 != 2 || !yarn.IsList(body)):
			t.Errorf("%d %q %q is called not there: %v", status, kind, body, err)
		case core.ReasonFor(err) == core.ReasonUnreachable && !errors.Is(err, core.ErrUnreachable):
			t.Errorf("an error without a meaning: %v", err)
		case len(err.Error()) > 2000:
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	})
}

// FuzzApplication: an application that the ResourceManager is asked for by its id is
// gone only by its own words.
func FuzzApplication(f *testing.F) {
	for _, b := range recordedBodies(f) {
		f.Add(200, b)
		f.Add(404, b)
		f.Add(500, b)
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if status < 200 || status > 599 {
			return
		}
		c := open(t, yarn.Config{ResourceManagers: []string{"http://rm.invalid"}, NoProxy: true, Timeout: 5 * time.Second, Dial: scripted(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = w.Write(body)
		})})
		job := core.JobRef{ID: "x", Extras: map[string]string{"target": `{"applicationName":"orders"}`, "application": firstID}}
		_, err := c.Status(t.Context(), job)
		if err == nil {
			t.Errorf("a status in %q", body)
		}
		if errors.Is(err, core.ErrNotFound) && !yarn.SaysGone(status, body) {
			t.Errorf("%d %q is called gone: %v", status, body, err)
		}
	})
}
