package k8s

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	paths "k8s.io/apimachinery/pkg/util/validation/field"

	"flinkscaler/core"
)

func TestTranslate(t *testing.T) {
	t.Parallel()
	deployments := flinkDeployment{}.resource()
	group := deployments.GroupResource()
	owned := apierrors.NewApplyConflict([]metav1.StatusCause{{
		Type: metav1.CauseTypeFieldManagerConflict, Message: `conflict with "argocd-controller" using flink.apache.org/v1beta1`,
		Field: ".spec.flinkConfiguration." + overridesKey,
	}}, "Apply failed with 1 conflict")
	hook := apierrors.NewInternalError(errors.New(`failed calling webhook "flinkoperator.flink.apache.org": no endpoints available`))
	for name, tc := range map[string]struct {
		reason string
		err    error
		verb   string
		want   error
		text   []string
	}{
		"no right":            {"whoever installs it must know which right", apierrors.NewForbidden(group, "j1", errors.New("RBAC")), "patch", core.ErrUnauthorized, []string{"patch flinkdeployments", "flink/j1", "verb patch on flinkdeployments of API group flink.apache.org"}},
		"a policy":            {"no Role helps against it", apierrors.NewForbidden(group, "j1", errors.New("ValidatingAdmissionPolicy 'p' with binding 'b' denied request: image")), "patch", core.ErrUnauthorized, []string{"admission policy"}},
		"not known":           {"a token that ran out", apierrors.NewUnauthorized("Unauthorized"), "get", core.ErrUnauthorized, []string{"credentials"}},
		"gone":                {"the API server itself says so", apierrors.NewNotFound(group, "j1"), "get", core.ErrNotFound, []string{`"j1" not found`}},
		"no such kind":        {"the operator is not installed", &apierrors.StatusError{ErrStatus: metav1.Status{Code: 404, Reason: metav1.StatusReasonNotFound, Message: "the server could not find the requested resource"}}, "get", core.ErrNotFound, []string{"CRDs are not installed"}},
		"field owned":         {"who it is stands in the causes", owned, "patch", core.ErrForeign, []string{`argocd-controller`, overridesKey}},
		"stale":               {"it was changed since it was read", apierrors.NewConflict(group, "j1", errors.New("the object has been modified")), "patch", core.ErrBusy, []string{"changed since it was read"}},
		"invalid":             {"asking again is useless", apierrors.NewInvalid(schema.GroupKind{Kind: "FlinkDeployment"}, "j1", nil), "patch", core.ErrRefused, nil},
		"another of its name": {"a uid cannot be changed", apierrors.NewInvalid(schema.GroupKind{Kind: "FlinkDeployment"}, "j1", paths.ErrorList{paths.Invalid(paths.NewPath("metadata", "uid"), "u-2", "field is immutable")}), "patch", core.ErrNotFound, []string{"created anew"}},
		"bad request":         {"likewise: an admission webhook may say so", apierrors.NewBadRequest("job parallelism must be positive"), "patch", core.ErrRefused, []string{"must be positive"}},
		"too many":            {"it was not taken", apierrors.NewTooManyRequests("slow down", 1), "patch", core.ErrBusy, []string{"not taken"}},
		"webhook down":        {"admission comes before anything is stored", hook, "patch", core.ErrBusy, []string{"nothing was written", "flinkoperator.flink.apache.org"}},
		"internal":            {"a write may have been taken", apierrors.NewInternalError(errors.New("etcd")), "patch", core.ErrUnreachable, []string{"may or may not"}},
		"unavailable":         {"likewise", apierrors.NewServiceUnavailable("starting"), "patch", core.ErrUnreachable, []string{"may or may not"}},
		"time-out":            {"likewise", apierrors.NewTimeoutError("took too long", 1), "patch", core.ErrUnreachable, []string{"may or may not"}},
		"no answer":           {"likewise: the connection ended", &url.Error{Op: "Patch", URL: "https://10.0.0.1", Err: errors.New("EOF")}, "patch", core.ErrUnreachable, []string{"may or may not"}},
		"read unheard":        {"a read writes nothing", &url.Error{Op: "Get", URL: "https://10.0.0.1", Err: errors.New("EOF")}, "get", core.ErrUnreachable, nil},
		"a list too old":      {"it is read anew", apierrors.NewResourceExpired("continue token"), "list", core.ErrBusy, nil},
		"cancelled":           {"the caller's own doing stays visible", fmt.Errorf("rate limiter: %w", context.Canceled), "get", context.Canceled, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := translate(tc.err, call{tc.verb, deployments, "flink", "j1"})
			if !errors.Is(got, tc.want) {
				t.Fatalf("%s: %v, want %v", tc.reason, got, tc.want)
			}
			for _, want := range tc.text {
				if !strings.Contains(got.Error(), want) {
					t.Errorf("%s: %q is not in: %v", tc.reason, want, got)
				}
			}
			if tc.verb != "patch" && strings.Contains(got.Error(), "may or may not") {
				t.Errorf("%s: a read may have been written: %v", tc.reason, got)
			}
			if strings.Contains(got.Error(), "\n") {
				t.Errorf("%s: more than one line: %q", tc.reason, got)
			}
		})
	}
}

func TestCutKeepsItShort(t *testing.T) {
	t.Parallel()
	if got := cut("a\n b\t" + strings.Repeat("ü", maxErrorText)); len(got) > maxErrorText || !strings.HasPrefix(got, "a b ü") || !strings.HasSuffix(got, "ü…") {
		t.Errorf("got %q", got)
	}
}
