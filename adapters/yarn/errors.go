package yarn

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"flinkscaler/core"
)

// maxWords bounds the words of others in our errors: history keeps them.
const maxWords = 300

// remote is the error body of a ResourceManager.
type remote struct {
	Exception string `json:"exception"`
	Message   string `json:"message"`
}

// remoteOf reads it; false for any other body.
func remoteOf(a answer) (remote, bool) {
	body, err := fromJSON[struct {
		Remote *remote `json:"RemoteException"`
	}](a.body)
	if !a.data() || err != nil || body.Remote == nil || body.Remote.Exception == "" {
		return remote{}, false
	}
	return *body.Remote, true
}

// words are those of the message for people: without Java's names in front.
func (r remote) words() string {
	text := r.Message
	for {
		class, rest, ok := strings.Cut(text, ": ")
		if !ok || strings.ContainsAny(class, " ") || !strings.Contains(class, ".") {
			break
		}
		text = rest
	}
	if text == "" {
		text = r.Exception
	}
	return cut(text)
}

// noneActive begins what a standby says to whom it has sent around long enough.
const noneActive = "There is no active RM"

// translate gives nil for an answer that can be decoded, else its one meaning.
func translate(a answer, r request) error {
	said, isRemote := remoteOf(a)
	switch {
	case a.status == http.StatusUnauthorized || a.status == http.StatusForbidden || a.status == http.StatusProxyAuthRequired:
		if isRemote && said.Exception == "StandbyException" {
			return fmt.Errorf("%w: %s is standby", core.ErrNoLeader, a.host)
		}
		return fmt.Errorf("%w: %s answers %d%s", core.ErrUnauthorized, a.host, a.status, quoted(said))
	case a.status/100 == 2 && a.data():
		return nil
	case bytes.Contains(a.body[:min(len(a.body), 4096)], []byte(noneActive)):
		return fmt.Errorf("%w: %s knows of no active ResourceManager", core.ErrNoLeader, a.host)
	case !isRemote:
		return fmt.Errorf("%w: %s answers %d with %s, which is no answer of a ResourceManager", core.ErrUnreachable, a.host, a.status, kindWords(a.kind))
	case said.Exception == "StandbyException":
		return fmt.Errorf("%w: %s is standby", core.ErrNoLeader, a.host)
	case a.status == http.StatusNotFound && said.Exception == "NotFoundException" && r.subject != "":
		return fmt.Errorf("%w: %s", core.ErrNotFound, said.words())
	case a.status == http.StatusConflict || a.status == http.StatusTooManyRequests:
		return fmt.Errorf("%w: %s", core.ErrBusy, said.words())
	case a.status/100 == 4 && a.status != http.StatusNotFound && a.status != http.StatusRequestTimeout:
		return fmt.Errorf("%w: %s", core.ErrRefused, said.words())
	}
	return fmt.Errorf("%w: %s answers %d%s", core.ErrUnreachable, a.host, a.status, quoted(said))
}

func quoted(r remote) string {
	if r.Message == "" && r.Exception == "" {
		return ""
	}
	return ": " + r.words()
}

func kindWords(kind string) string {
	switch {
	case kind == "":
		return "something unnamed"
	case strings.Contains(kind, "html"):
		return "a page for people"
	}
	return cut(kind)
}

// hint is one sentence for a person about what to do.
func hint(err error) string {
	switch {
	case errors.Is(err, core.ErrUnauthorized):
		return "check user, kerberos, or username and passwordFile of the cluster in the worker's configuration, and the ResourceManager's ACLs"
	case errors.Is(err, core.ErrNoLeader):
		return "a failover takes some seconds; if it stays, list every ResourceManager under resourceManagers"
	case errors.Is(err, core.ErrUnreachable):
		return "check resourceManagers: web addresses such as http://rm1:8088, with /resourcemanager at the end of a gateway's"
	}
	return ""
}

// cut makes a text of others fit into an error: one line, not too long.
func cut(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if len(s) <= maxWords {
		return s
	}
	end := maxWords
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
