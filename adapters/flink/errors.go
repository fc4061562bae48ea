package flink

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	"flinkscaler/core"
)

// ErrURLTooLong is Flink's answer to a request line of more than 4096 bytes.
// It is a fault of this package and matches core.ErrRefused.
var ErrURLTooLong = errors.New("request line too long for Flink")

// errNoSuchPath: it is Flink, but this version has no such path, or the
// feature behind it is off.
var errNoSuchPath = fmt.Errorf("%w: no such path", core.ErrNotFlink)

// errNoCheckpoints: the job takes no checkpoints.
var errNoCheckpoints = fmt.Errorf("%w: checkpointing is not enabled", core.ErrNotFound)

// maxErrorText bounds Flink's words in our errors: history keeps them.
const maxErrorText = 400

// answer is what came back over HTTP.
type answer struct {
	status      int
	contentType string
	location    string
	body        []byte
}

// html is true for a page made for people: a login, a proxy's error.
func (a answer) html() bool {
	return strings.Contains(a.contentType, "html") || bytes.HasPrefix(bytes.TrimSpace(a.body), []byte("<"))
}

// translate gives nil for an answer that can be decoded, else the one meaning
// of the failure.
func translate(a answer) error {
	switch {
	case a.status >= 300 && a.status < 400:
		return fmt.Errorf("%w: HTTP %d, a redirect to %s", core.ErrNotFlink, a.status, redirectHost(a.location))
	case a.status == http.StatusUnauthorized || a.status == http.StatusForbidden || a.status == http.StatusProxyAuthRequired:
		return fmt.Errorf("%w: HTTP %d", core.ErrUnauthorized, a.status)
	case a.status == http.StatusRequestURITooLong:
		return fmt.Errorf("%w: %w", core.ErrRefused, ErrURLTooLong)
	case a.status >= 200 && a.status < 300:
		if a.html() {
			return fmt.Errorf("%w: HTTP %d with a page for people", core.ErrNotFlink, a.status)
		}
		return nil
	}
	text, ours := flinkText(a.body)
	if ours {
		return translateFlink(a.status, text)
	}
	switch a.status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fmt.Errorf("%w: HTTP %d, not from Flink itself", core.ErrUnreachable, a.status)
	case http.StatusTooManyRequests:
		return fmt.Errorf("%w: HTTP %d", core.ErrBusy, a.status)
	}
	return fmt.Errorf("%w: HTTP %d", core.ErrNotFlink, a.status)
}

// redirectHost names where a redirect goes without its path and query, which
// may hold a ticket.
func redirectHost(location string) string {
	u, problem := parseURL(strings.SplitN(location, "?", 2)[0])
	if problem != "" {
		return "another place"
	}
	return u.Scheme + "://" + u.Host
}

// translateFlink knows Flink's words: codes alone do not separate the cases.
func translateFlink(status int, text string) error {
	short := firstWords(text)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	meaning := core.ErrUnreachable // a 500 we do not know: it may or may not have been taken
	switch {
	case has("Could not execute application", "Could not run the jar"):
		// What the program threw, or what Flink says of the job that it made: no
		// word in it is about this request.
		meaning, short = core.ErrRefused, rootWords(text)
	case has("already reached another terminal state"):
		meaning = core.ErrNotFound
	case status == http.StatusConflict:
		meaning = core.ErrBusy
	case status == http.StatusServiceUnavailable:
		meaning = core.ErrNoLeader
	case has("Unable to load requested file /bad-request"):
		return fmt.Errorf("%w: %w", core.ErrRefused, ErrURLTooLong)
	case status == http.StatusNotFound:
		return translateMissing(short, has)
	case status == http.StatusTooManyRequests:
		meaning = core.ErrBusy
	case status > http.StatusInternalServerError: // something in between
	case has("FlinkJobNotFoundException", "Could not find Flink job"):
		meaning = core.ErrNotFound
	case has("UnsupportedOperationException"):
		meaning = core.ErrNotAdaptive
	case has("UnavailableDispatcherOperationException"):
		meaning = core.ErrNotReady
	case has("RecipientUnreachableException"):
		// Flink's text names actors, another with each request.
		meaning, short = core.ErrNoLeader, "the JobManager cannot reach its leader"
	case has("leader election", "LeaderUnavailable", "FencingTokenException", "UnavailableJobMaster"):
		meaning = core.ErrNoLeader
	case status < 500:
		meaning = core.ErrRefused
	}
	return fmt.Errorf("%w: %s", meaning, short)
}

func translateMissing(short string, has func(...string) bool) error {
	switch {
	case has("heckpointing has not been enabled", "heckpointing is not enabled", "heckpointing was not enabled"):
		return fmt.Errorf("%w: %s", errNoCheckpoints, short)
	case has("AdaptiveScheduler is not enabled", "RescalesUnavailable"):
		return fmt.Errorf("%w: %s", errNoSuchPath, short)
	case has("NotFound", "not found", "Could not find", "There is no savepoint operation"):
		return fmt.Errorf("%w: %s", core.ErrNotFound, short)
	}
	// "Unable to load requested file", or words we do not know: nothing that
	// says that a job is gone.
	return fmt.Errorf("%w: %s", errNoSuchPath, short)
}

// flinkText joins the texts of Flink's error body; false when it is not one.
func flinkText(body []byte) (string, bool) {
	var e struct {
		Errors *[]string `json:"errors"`
	}
	if json.Unmarshal(body, &e) != nil || e.Errors == nil {
		return "", false
	}
	return strings.Join(*e.Errors, "\n"), true
}

// className is the Java class in front of a message.
var className = regexp.MustCompile(`^(?:[\w$]+\.)+[\w$]*(?:Exception|Error)(?:: |$)`)

// firstWords takes the message out of an error body: no stack trace, no Java
// class names, no phrase that says nothing, on one line and not too long.
func firstWords(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "\tat ") || strings.HasPrefix(line, "Caused by:") {
			break
		}
		line = strings.TrimSpace(line)
		for className.MatchString(line) {
			line = line[len(className.FindString(line)):]
		}
		switch {
		case line == "", line == "Internal server error.", strings.HasPrefix(line, "<Exception on server side"):
		default:
			out = append(out, line)
		}
	}
	if len(out) == 0 {
		return "no reason given"
	}
	return cut(strings.Join(out, "; "), maxErrorText)
}

// cut shortens a text to n bytes at most, between runes, and takes out what a
// terminal would act on.
func cut(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if len(s) <= n {
		return s
	}
	end := 0
	for i := range s {
		if i > n-len("…") {
			break
		}
		end = i
	}
	return s[:end] + "…"
}

// badBody is the error of a body that does not decode. One that ends early was
// cut on its way; another is not Flink's.
func badBody(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "unexpected end of JSON input") {
		return fmt.Errorf("%w: the answer was cut short", core.ErrUnreachable)
	}
	return fmt.Errorf("%w: %s", core.ErrNotFlink, cut(err.Error(), maxErrorText))
}

// hint is one sentence for a person about what to do.
func hint(err error) string {
	switch {
	case errors.Is(err, errNoSuchPath):
		return ""
	case errors.Is(err, core.ErrUnauthorized):
		return "check the credential files of the cluster in the worker's configuration"
	case errors.Is(err, core.ErrNotFlink):
		return "check the address: a proxy or a login page may be in between"
	case errors.Is(err, core.ErrNotAdaptive):
		return "set jobmanager.scheduler: adaptive on the cluster"
	}
	return ""
}
