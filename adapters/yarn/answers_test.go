package yarn_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"flinkscaler/adapters/yarn"
	"flinkscaler/core"
)

// recordedAnswer writes an answer that was recorded from a real cluster.
func recordedAnswer(t *testing.T, name string) func(http.ResponseWriter, *http.Request) bool {
	t.Helper()
	file := filepath.Join("testdata/3.4.2", name)
	body, err := os.ReadFile(file)
	must(t, err)
	parts := strings.Split(name, ".")
	status, err := strconv.Atoi(parts[len(parts)-2])
	must(t, err)
	headers, _ := os.ReadFile(strings.TrimSuffix(file, filepath.Ext(file)) + ".headers")
	kind := map[string]string{"json": "application/json;charset=utf-8", "html": "text/html;charset=utf-8", "txt": "text/plain;charset=utf-8"}[parts[len(parts)-1]]
	return func(w http.ResponseWriter, _ *http.Request) bool {
		for line := range strings.Lines(string(headers)) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			w.Header().Set(key, value)
		}
		answerText(w, status, kind, string(body))
		return true
	}
}

func says(status int, kind, body string, headers ...string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		answerText(w, status, kind, body)
		return true
	}
}

const isJSON = "application/json"

// wantMeaning checks that an error has one meaning and no other.
func wantMeaning(t *testing.T, reason string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v; want %v", reason, err, want)
	}
	for _, other := range []error{
		core.ErrNotFound, core.ErrAmbiguous, core.ErrUnreachable, core.ErrNoLeader, core.ErrBusy, core.ErrNotReady,
		core.ErrNotAdaptive, core.ErrRefused, core.ErrUnauthorized, core.ErrNotFlink,
	} {
		if !errors.Is(want, other) && errors.Is(err, other) {
			t.Errorf("%s: %v means %v too; want %v alone", reason, err, other, want)
		}
	}
}

// TestWhatAnswersMean: only a list without the application says that it is not there.
func TestWhatAnswersMean(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		odd    func(http.ResponseWriter, *http.Request) bool
		want   error
		words  string
	}{
		"none":              {"as it is written today", recordedAnswer(t, "apps-none.200.json"), core.ErrNotFound, "no live application"},
		"null":              {"as old releases write it", says(200, isJSON, `{"apps":null}`), core.ErrNotFound, ""},
		"a list of none":    {"as some JAXB providers write it", says(200, isJSON, `{"apps":[]}`), core.ErrNotFound, ""},
		"null inside":       {"none at one level deeper", says(200, isJSON, `{"apps":{"app":null}}`), core.ErrNotFound, ""},
		"one, no list":      {"as XML-minded releases write one", says(200, isJSON, `{"apps":{"app":{"id":"application_1_1","name":"other","state":"RUNNING","applicationType":"Apache Flink"}}}`), core.ErrNotFound, ""},
		"another one":       {"it lists only what is there", recordedAnswer(t, "apps-one.200.json"), core.ErrNotFound, ""},
		"no apps":           {"it is no list", says(200, isJSON, `{}`), core.ErrUnreachable, `no "apps"`},
		"no app":            {"it is no list either", says(200, isJSON, `{"apps":{"more":1}}`), core.ErrUnreachable, `no "app"`},
		"without an id":     {"a part is missing", says(200, isJSON, `{"apps":{"app":[{}]}}`), core.ErrUnreachable, "without id"},
		"cut short":         {"half a list may lack ours", says(200, isJSON, `{"apps":{"app":[`), core.ErrUnreachable, ""},
		"empty":             {"nothing is no list", says(200, isJSON, ``), core.ErrUnreachable, ""},
		"another type":      {"of another application", says(200, isJSON, `"apps"`), core.ErrUnreachable, ""},
		"a page":            {"a login, or an error that says 200", says(200, "text/html", "<html>{\"apps\":{}}</html>"), core.ErrUnreachable, "a page for people"},
		"unnamed":           {"only JSON that says so is data", says(200, "text/plain", `{"apps":{}}`), core.ErrUnreachable, ""},
		"no such path":      {"a wrong address knows no applications", recordedAnswer(t, "no-such-path.404.html"), core.ErrUnreachable, "resourceManagers"},
		"404 of the list":   {"a list is never not there", recordedAnswer(t, "app-unknown.404.json"), core.ErrUnreachable, ""},
		"bad request":       {"with the ResourceManager's words", recordedAnswer(t, "apps-unknown-state.400.json"), core.ErrRefused, "refused: Invalid application-state NONSENSE"},
		"broken":            {"a fault of its own", recordedAnswer(t, "accept-html.500.html"), core.ErrUnreachable, ""},
		"not allowed":       {"with a hint", says(401, "text/html", "<html>"), core.ErrUnauthorized, "check user, kerberos"},
		"forbidden":         {"with its words", says(403, isJSON, `{"RemoteException":{"exception":"ForbiddenException","message":"org.x.Y: user etl may not"}}`), core.ErrUnauthorized, "user etl may not"},
		"standby":           {"it says so in other words too", says(403, isJSON, `{"RemoteException":{"exception":"StandbyException","message":"x"}}`), core.ErrNoLeader, ""},
		"XML":               {"as a request without a content type gets it", says(503, "application/xml", "<RemoteException/>"), core.ErrUnreachable, ""},
		"503":               {"a gateway without a server", says(503, "", ""), core.ErrUnreachable, ""},
		"no leader":         {"a standby that knows of none", says(307, "text/plain", "Can not find any active RM. Will retry in next 7 seconds.", "Refresh", "7;url=http://rm/?next.refresh.interval=1"), core.ErrNoLeader, "every ResourceManager"},
		"no leader, in 200": {"what the seventh retry gets", says(200, "text/plain", "There is no active RM right now."), core.ErrNoLeader, ""},
		"to another":        {"nothing is sent where nobody configured it", recordedAnswer(t, "standby-apps.307.txt"), core.ErrNoLeader, "rm2.example:8088 as the active one"},
		"to a login":        {"a page is no ResourceManager", says(302, "text/html", "", "Location", "https://login.example/x?ticket=s3cret"), core.ErrUnreachable, "login.example"},
		"busy":              {"it asks for patience", says(429, isJSON, `{"RemoteException":{"exception":"X","message":"too many"}}`), core.ErrBusy, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rm := newRM(t)
			rm.odd = tc.odd
			c := open(t, yarn.Config{ResourceManagers: []string{rm.URL}, Timeout: 5 * time.Second})
			_, err := c.Locate(t.Context(), named("orders"))
			wantMeaning(t, tc.reason, err, tc.want)
			if err != nil && !strings.Contains(err.Error(), tc.words) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%s: %v; want %q in it, and no ticket", tc.reason, err, tc.words)
			}
		})
	}
}

// TestStandbyNamesItself: at the moment of a failover it does, and the caller gets an
// end.
func TestStandbyNamesItself(t *testing.T) {
	t.Parallel()
	rm := newRM(t)
	rm.odd = func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Location", rm.URL+r.URL.RequestURI())
		answerText(w, 307, "text/plain", "This is standby RM.")
		return true
	}
	_, err := open(t, yarn.Config{ResourceManagers: []string{rm.URL}}).Locate(t.Context(), named("orders"))
	wantMeaning(t, "it names itself", err, core.ErrNoLeader)
	if n := rm.asked("GET"); n > 4 {
		t.Errorf("asked %d times", n)
	}
}

// TestAnswersHaveAnEnd: a body and a wait are bounded.
func TestAnswersHaveAnEnd(t *testing.T) {
	t.Parallel()
	rm := newRM(t)
	rm.odd = says(200, isJSON, `{"apps":{"more":"`+strings.Repeat("x", 3000)+`"}}`)
	c := open(t, yarn.Config{ResourceManagers: []string{rm.URL}, MaxBodyBytes: 1000})
	_, err := c.Locate(t.Context(), named("orders"))
	wantMeaning(t, "too large", err, core.ErrUnreachable)
	if !strings.Contains(err.Error(), "larger than 1000 bytes") {
		t.Errorf("text: %v", err)
	}
	rm.set(func() {
		rm.odd = func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true }
	})
	hangs := open(t, yarn.Config{ResourceManagers: []string{rm.URL}, Timeout: 100 * time.Millisecond})
	_, err = hangs.Locate(t.Context(), named("orders"))
	wantMeaning(t, "too late", err, core.ErrUnreachable)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err = open(t, yarn.Config{ResourceManagers: []string{rm.URL}}).Locate(ctx, named("orders")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the caller's time ended: %v", err)
	}
}
