package kerberos

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/krberror"
	"github.com/jcmturner/gokrb5/v8/messages"

	"flinkscaler/core"
)

func TestFailureMeans(t *testing.T) {
	t.Parallel()
	said := func(code int32) error {
		return krberror.Errorf(messages.KRBError{ErrorCode: code, EText: "TEXT"}, krberror.KDCError, "AS Exchange Error: kerberos error response from KDC")
	}
	for name, c := range map[string]struct {
		reason  string
		err     error
		meaning error
		hint    string
	}{
		"wrong keys":    {"the KDC says so", said(errorcode.KDC_ERR_PREAUTH_FAILED), core.ErrUnauthorized, "new keytab"},
		"unknown":       {"the KDC says so", said(errorcode.KDC_ERR_C_PRINCIPAL_UNKNOWN), core.ErrUnauthorized, "does not know the principal"},
		"service":       {"the KDC says so", said(errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN), core.ErrUnauthorized, "does not know the service"},
		"locked":        {"the KDC says so", said(errorcode.KDC_ERR_CLIENT_REVOKED), core.ErrUnauthorized, "locked"},
		"clocks":        {"the KDC says so", said(errorcode.KRB_AP_ERR_SKEW), core.ErrUnauthorized, "clocks"},
		"ciphers":       {"the KDC says so", said(errorcode.KDC_ERR_ETYPE_NOSUPP), core.ErrUnauthorized, "encryption type"},
		"policy":        {"what has no words of its own is refused", said(errorcode.KDC_ERR_POLICY), core.ErrUnauthorized, ""},
		"its trouble":   {"its database is down, say: later it may answer", said(errorcode.KRB_ERR_GENERIC), core.ErrUnreachable, "problem of its own"},
		"no service":    {"it says itself that it cannot now", said(errorcode.KDC_ERR_SVC_UNAVAILABLE), core.ErrUnreachable, "problem of its own"},
		"network":       {"nobody answered", krberror.NewErrorf(krberror.NetworkingError, "refused"), core.ErrUnreachable, "ports 88"},
		"no KDC":        {"a web server answered", krberror.NewErrorf(krberror.EncodingError, "asn1"), core.ErrUnreachable, "no KDC"},
		"undecryptable": {"a KDC that asks for no proof gives a ticket that only the right key opens", krberror.Errorf(krberror.NewErrorf(krberror.DecryptingError, "integrity"), krberror.KRBMsgError, "AS_REP is not valid"), core.ErrUnauthorized, "new keytab"},
		"own clock":     {"the library compares, too", krberror.NewErrorf(krberror.KRBMsgError, "clock skew with KDC too large"), core.ErrUnauthorized, "clocks"},
		"no file":       {"without a keytab there is no login", &os.PathError{Op: "open", Path: "x", Err: os.ErrNotExist}, core.ErrUnauthorized, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := failure("log in", "me@A.REALM", c.err)
			if !errors.Is(err, c.meaning) {
				t.Errorf("%s: got %v", c.reason, err)
			}
			var op *core.OpError
			if !errors.As(err, &op) || op.Subject != "me@A.REALM" || !strings.Contains(op.Hint, c.hint) || (c.hint == "") != (op.Hint == "") {
				t.Errorf("%s: want the hint %q, got %v", c.reason, c.hint, err)
			}
			if answered(c.err) != (c.meaning == core.ErrUnauthorized) {
				t.Errorf("%s: answered is %t", c.reason, answered(c.err))
			}
		})
	}
	if !unknownService(said(errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN)) || unknownService(said(errorcode.KDC_ERR_POLICY)) {
		t.Error("unknownService takes one for the other")
	}
}

func TestLongErrorsAreCut(t *testing.T) {
	t.Parallel()
	got := shorten(strings.Repeat("äb \n", 1000))
	if len(got) > maxErrorText+len(" ...") || !strings.HasSuffix(got, " ...") || strings.Contains(got, "\n") {
		t.Errorf("got %d bytes: %q", len(got), got)
	}
}

// TestErrorsShowNoKeys logs in where nobody answers.
func TestErrorsShowNoKeys(t *testing.T) {
	t.Parallel()
	keys, conf := files(t, goodConf)
	l, err := New(Config{Principal: "me@A.REALM", KeytabFile: keys, ConfigFile: conf, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = l.Client(context.Background(), "HTTP/localhost")
	if !errors.Is(err, core.ErrUnreachable) {
		t.Fatalf("port 1 answered: %v", err)
	}
	content, err2 := os.ReadFile(keys)
	if err2 != nil {
		t.Fatal(err2)
	}
	key := string(content[len(content)-32:])
	if strings.Contains(err.Error(), key) || strings.Contains(err.Error(), secret) {
		t.Errorf("the error shows a key: %v", err)
	}
	l.Close()
	if _, err := l.Client(context.Background()); !errors.Is(err, core.ErrUnreachable) || !errors.Is(err, errClosed) {
		t.Errorf("closed: got %v", err)
	}
}
