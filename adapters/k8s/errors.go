package k8s

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"flinkscaler/core"
)

// call is one request to the API server.
type call struct {
	verb            string
	resource        schema.GroupVersionResource // with its subresource, as in RBAC
	namespace, name string                      // no name: a list
}

func (c call) op() string { return c.verb + " " + c.resource.Resource }

func (c call) subject() string { return strings.Trim(c.namespace+"/"+c.name, "/") }

// writes is true for a call that changes something when it is taken.
func (c call) writes() bool { return c.verb == "patch" || c.verb == "create" || c.verb == "delete" }

// maxErrorText bounds the API server's words in our errors: history keeps them.
const maxErrorText = 400

// translate gives a failed call to the API server its one meaning, with the verb,
// the resource and what to do about it in the text.
//
// A write that had no answer, or an answer that does not say whether it was
// taken, is core.ErrUnreachable: it may or may not have been written.
func translate(err error, c call) error {
	hint, meaning := meaningOf(err, c)
	words := cut(err.Error())
	out := fmt.Errorf("%w: %s", meaning, words)
	if errors.Is(err, context.Canceled) {
		out = fmt.Errorf("%w: %w", meaning, context.Canceled)
	}
	return &core.OpError{Op: c.op(), Subject: c.subject(), Hint: hint, Err: out}
}

func meaningOf(err error, c call) (hint string, meaning error) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return noAnswer(c), core.ErrUnreachable
	}
	s := status.Status()
	switch s.Code {
	case http.StatusUnauthorized:
		return "the API server does not know the credentials: check the kubeconfig or the ServiceAccount of the worker", core.ErrUnauthorized
	case http.StatusForbidden:
		return forbidden(s, c), core.ErrUnauthorized
	case http.StatusNotFound:
		return missing(s, c), core.ErrNotFound
	case http.StatusConflict:
		return conflict(s)
	case http.StatusUnprocessableEntity:
		if another(s) {
			return "it was deleted and created anew since it was read", core.ErrNotFound
		}
		return refusal, core.ErrRefused
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType, http.StatusNotAcceptable, http.StatusRequestEntityTooLarge:
		return refusal, core.ErrRefused
	case http.StatusTooManyRequests:
		return "the API server has too much to do; it was not taken", core.ErrBusy
	case http.StatusGone:
		return "the list took too long and has to be read anew", core.ErrBusy
	}
	if hook := webhook.FindString(s.Message); hook != "" {
		return "nothing was written: see whether the pods behind the webhook run (mostly those of the Flink operator)", core.ErrBusy
	}
	return noAnswer(c), core.ErrUnreachable
}

const refusal = "the API server, or an admission webhook, does not take it"

// another is true when the object that is there has another uid than the one that
// was to be written.
func another(s metav1.Status) bool {
	return s.Details != nil && slices.ContainsFunc(s.Details.Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
}

// webhook is how the API server says that it could not ask one.
var webhook = regexp.MustCompile(`failed calling webhook "[^"]*"`)

func noAnswer(c call) string {
	if c.writes() {
		return "it may or may not have been written"
	}
	return ""
}

// forbidden tells a missing right from a rule that forbids this very change.
func forbidden(s metav1.Status, c call) string {
	if strings.Contains(s.Message, "denied request") || strings.Contains(s.Message, "denied the request") {
		return "an admission policy or webhook of the cluster forbids this change"
	}
	group := c.resource.Group
	if group == "" {
		group = `""`
	}
	return fmt.Sprintf("give the worker's ServiceAccount a Role in namespace %s with verb %s on %s of API group %s", orAll(c.namespace), c.verb, c.resource.Resource, group)
}

func orAll(namespace string) string {
	if namespace == "" {
		return "(all of them: a ClusterRole)"
	}
	return namespace
}

func missing(s metav1.Status, c call) string {
	if s.Details == nil || s.Details.Name == "" {
		return fmt.Sprintf("the API server has no %s of %s: the operator's CRDs are not installed, or of another version", c.resource.Resource, c.resource.GroupVersion())
	}
	return ""
}

// errStale is core.ErrBusy where the object was changed since it was read: what
// was to be written may still be right for it as it is now.
var errStale error = stale{}

type stale struct{}

func (stale) Error() string { return core.ErrBusy.Error() }

func (stale) Unwrap() error { return core.ErrBusy }

// conflict tells somebody else's field from a change since the object was read.
func conflict(s metav1.Status) (hint string, meaning error) {
	var owners []string
	if s.Details != nil {
		for _, cause := range s.Details.Causes {
			if cause.Type == metav1.CauseTypeFieldManagerConflict {
				owners = append(owners, manager(cause))
			}
		}
	}
	if len(owners) == 0 {
		return "the object was changed since it was read; it has to be read again", errStale
	}
	return strings.Join(owners, "; ") + ": take the field out of what that manager applies, or let it alone have it", core.ErrForeign
}

// manager is who owns a field, and which.
func manager(cause metav1.StatusCause) string {
	name := strings.TrimPrefix(cause.Message, "conflict with ")
	return fmt.Sprintf("%s is owned by %s", strings.TrimPrefix(cause.Field, "."), name)
}

// cut shortens the API server's words, on one line.
func cut(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if len(s) <= maxErrorText {
		return s
	}
	return strings.ToValidUTF8(s[:maxErrorText-len("…")], "") + "…"
}
