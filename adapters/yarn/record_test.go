//go:build e2e && record

package yarn_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"flinkscaler/e2e/hadoop"
)

// recorder writes answers as they come, but for what belongs to a machine.
type recorder struct {
	t       *testing.T
	cluster *hadoop.Cluster
	into    string
	client  *http.Client
}

// newRecorder makes one that follows no redirect.
func newRecorder(t *testing.T, c *hadoop.Cluster, into string) *recorder {
	client := &http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &recorder{t: t, cluster: c, into: into, client: client}
}

// call is one request.
type call struct {
	method, url, body string
	// accept and contentType are JSON when empty; "none" leaves them out.
	accept, contentType string
}

func (r *recorder) get(name, url string) {
	r.t.Helper()
	r.send(name, call{method: http.MethodGet, url: url})
}

// send writes <name>.<status>.<json, html, txt or xml>, and beside it <name>.<status>.headers when the answer sends the
// client elsewhere.
func (r *recorder) send(name string, c call) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), c.method, c.url, strings.NewReader(c.body))
	recorded(r.t, err)
	header(req, "Accept", c.accept)
	if c.body != "" {
		header(req, "Content-Type", c.contentType)
	}
	res, err := r.client.Do(req)
	recorded(r.t, err)
	body, err := io.ReadAll(res.Body)
	recorded(r.t, err)
	_ = res.Body.Close()
	r.forget(name)
	base := filepath.Join(r.into, fmt.Sprintf("%s.%d", name, res.StatusCode))
	var headers string
	for _, key := range []string{"Location", "Refresh"} {
		if value := res.Header.Get(key); value != "" {
			headers += key + ": " + value + "\n"
		}
	}
	if headers != "" {
		recorded(r.t, os.WriteFile(base+".headers", []byte(r.scrub(headers)), 0o644))
	}
	text := r.scrub(string(body))
	r.t.Logf("%s %s: %s %s %.100q", c.method, name, res.Status, res.Header.Get("Content-Type"), text)
	recorded(r.t, os.WriteFile(base+"."+extension(res.Header.Get("Content-Type")), []byte(text), 0o644))
}

// forget removes what an earlier run recorded, maybe with another status.
func (r *recorder) forget(name string) {
	r.t.Helper()
	old, err := filepath.Glob(filepath.Join(r.into, name+".[0-9]*"))
	recorded(r.t, err)
	for _, file := range old {
		recorded(r.t, os.Remove(file))
	}
}

func header(req *http.Request, name, value string) {
	switch value {
	case "none":
	case "":
		req.Header.Set(name, "application/json")
	default:
		req.Header.Set(name, value)
	}
}

func extension(contentType string) string {
	for _, kind := range []string{"json", "html", "xml"} {
		if strings.Contains(contentType, kind) {
			return kind
		}
	}
	return "txt"
}

func recorded(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// scrub replaces ports, folders and names of this machine. The user "root" is not replaced as a word: the root queue has
// that name too.
func (r *recorder) scrub(text string) string {
	c := r.cluster
	place := strings.NewReplacer(c.Dir(), "/hadoop", filepath.Dir(c.ConfDir()), "/hadoop", os.Getenv("HOME"), "/home/user")
	text = place.Replace(text)
	for i, url := range c.ResourceManagerURLs() {
		text = strings.ReplaceAll(text, strings.TrimPrefix(url, "http://"), fmt.Sprintf("rm%d.example:8088", i+1))
	}
	for i, rm := range c.ResourceManagers() {
		text = strings.ReplaceAll(text, rm.Address(), fmt.Sprintf("rm%d.example:8032", i+1))
	}
	text = strings.ReplaceAll(text, c.NodeID(), "node1.example:8041")
	text = strings.ReplaceAll(text, strings.TrimPrefix(c.NodeWebURL(), "http://"), "node1.example:8042")
	text = strings.ReplaceAll(text, strings.TrimPrefix(c.DefaultFS(), "hdfs://"), "hdfs.example:8020")
	text = strings.ReplaceAll(text, c.User()+"/.flink", "alice/.flink")
	text = regexp.MustCompile(`("(?:user|username|remoteUser)":")[^"]*"`).ReplaceAllString(text, `${1}alice"`)
	text = strings.ReplaceAll(text, "killed by user "+c.User(), "killed by user alice")
	text = regexp.MustCompile(`(/containerlogs/container_\w+/)\w+`).ReplaceAllString(text, "${1}alice")
	if host, err := os.Hostname(); err == nil && len(host) > 2 {
		text = strings.ReplaceAll(text, host, "node1.example")
	}
	return text
}
