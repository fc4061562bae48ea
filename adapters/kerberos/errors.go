package kerberos

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/krberror"

	"flinkscaler/core"
)

// maxErrorText bounds what is shown of the library's text, in bytes: the first part says it, the rest is how it came there.
const maxErrorText = 300

// failure translates an error of the library into core's words: ErrUnreachable when the KDC did not answer or cannot at
// the moment, ErrUnauthorized when it refused.
func failure(op, subject string, err error) error {
	hint, meaning := judge(err)
	return &core.OpError{Op: op, Subject: subject, Hint: hint, Err: fmt.Errorf("%w: %s", meaning, shorten(err.Error()))}
}

// judge says what an error means and what to do about it. The library keeps of a KDC's answer only its text, in which the
// error's number stands.
func judge(err error) (hint string, meaning error) {
	var k krberror.Krberror
	if !errors.As(err, &k) {
		return "", core.ErrUnauthorized
	}
	if code, ok := kdcCode(k.Error()); ok {
		return meaningOf(code)
	}
	switch k.RootCause {
	case krberror.NetworkingError:
		return "no KDC of the realm answered: see its addresses in krb5.conf, and whether ports 88 TCP and UDP are open", core.ErrUnreachable
	case krberror.EncodingError:
		return "what answered is no KDC, or its answer was cut short", core.ErrUnreachable
	case krberror.KDCError:
		return "", core.ErrUnauthorized
	}
	if strings.Contains(k.Error(), "clock skew") {
		return meaningOf(errorcode.KRB_AP_ERR_SKEW)
	}
	return "the keys in the keytab are not those of the KDC: get a new keytab", core.ErrUnauthorized
}

// meaningOf is what a KDC's answer means.
func meaningOf(code int32) (hint string, meaning error) {
	switch code {
	case errorcode.KDC_ERR_SVC_UNAVAILABLE, errorcode.KRB_ERR_GENERIC:
		return "the KDC has a problem of its own: see its log", core.ErrUnreachable
	case errorcode.KDC_ERR_C_PRINCIPAL_UNKNOWN:
		return "the KDC does not know the principal", core.ErrUnauthorized
	case errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN:
		return "the KDC does not know the service: its principal must have the host's name as it is in the address", core.ErrUnauthorized
	case errorcode.KDC_ERR_PREAUTH_FAILED, errorcode.KRB_AP_ERR_BAD_INTEGRITY:
		return "the keys in the keytab are not those of the KDC: get a new keytab", core.ErrUnauthorized
	case errorcode.KDC_ERR_CLIENT_REVOKED, errorcode.KDC_ERR_KEY_EXPIRED, errorcode.KDC_ERR_NAME_EXP:
		return "the principal is locked or has expired", core.ErrUnauthorized
	case errorcode.KRB_AP_ERR_SKEW:
		return "the clocks of this machine and of the KDC differ too much", core.ErrUnauthorized
	case errorcode.KDC_ERR_ETYPE_NOSUPP:
		return "the KDC and krb5.conf have no encryption type in common", core.ErrUnauthorized
	}
	return "", core.ErrUnauthorized
}

// kdcCode finds the number of a KDC's error in the library's text.
func kdcCode(text string) (int32, bool) {
	found := regexp.MustCompile(`KRB Error: \((\d+)\)`).FindStringSubmatch(text)
	if found == nil {
		return 0, false
	}
	code, err := strconv.ParseInt(found[1], 10, 32)
	return int32(code), err == nil
}

// unknownService reports whether a KDC said that it has no such service.
func unknownService(err error) bool {
	code, ok := kdcCode(err.Error())
	return ok && code == errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN
}

// answered reports whether a KDC gave an answer that it will give again.
func answered(err error) bool {
	_, meaning := judge(err)
	return errors.Is(meaning, core.ErrUnauthorized)
}

func shorten(text string) string {
	text = strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "?")
	if len(text) > maxErrorText {
		return strings.ToValidUTF8(text[:maxErrorText], "") + " ..."
	}
	return text
}
