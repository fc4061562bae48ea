package activities

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"

	"flinkscaler/core"
)

// Types of application errors. They are part of the compatibility promise.
const (
	ErrTypeInvalidInput = "InvalidInput"
	ErrTypeRefused      = "Refused"
	ErrTypeGone         = "JobGone"
	ErrTypeNotAdaptive  = "NotAdaptive"
	ErrTypeUnauthorized = "Unauthorized"
	ErrTypeTryAgain     = "TryAgain"
	// ErrTypeMaybeWritten: no more attempts, but an earlier one may have
	// written.
	ErrTypeMaybeWritten = "MaybeWritten"
)

// final is the list of meanings on which a retry of a write is useless.
var final = []struct { //nolint:gochecknoglobals // a constant table
	err error
	typ string
}{
	{core.ErrRefused, ErrTypeRefused},
	{core.ErrForeign, ErrTypeRefused},
	{core.ErrNotFound, ErrTypeGone},
	{core.ErrAmbiguous, ErrTypeRefused},
	{core.ErrNotAdaptive, ErrTypeNotAdaptive},
	{core.ErrUnauthorized, ErrTypeUnauthorized},
}

// finalType gives the type of a failure on which a retry is useless; false for
// any other.
func finalType(err error) (string, bool) {
	for _, m := range final {
		if errors.Is(err, m.err) {
			return m.typ, true
		}
	}
	return "", false
}

// isFinal is true for a failure on which a retry is useless.
func isFinal(err error) bool {
	_, ok := finalType(err)
	return ok
}

// toTemporal turns a failure into a Temporal error: retryable or not, with a stable type, and quiet where it is expected.
func toTemporal(err error) error {
	if err == nil {
		return nil
	}
	if typ, ok := finalType(err); ok {
		return finalError(err, typ, reasonFor(err))
	}
	return temporal.NewApplicationErrorWithOptions(err.Error(), ErrTypeTryAgain, temporal.ApplicationErrorOptions{
		NextRetryDelay: retryDelay(err), Category: temporal.ApplicationErrorCategoryBenign, Details: []any{string(reasonFor(err))},
	})
}

// finalError says no for good, with the reason in its details.
func finalError(err error, typ string, reason core.Reason) error {
	return temporal.NewApplicationErrorWithOptions(err.Error(), typ, temporal.ApplicationErrorOptions{
		NonRetryable: true, Category: temporal.ApplicationErrorCategoryBenign, Details: []any{string(reason)},
	})
}

// retryDelay is short where Flink only has to finish something, else the
// caller's policy decides.
func retryDelay(err error) time.Duration {
	if errors.Is(err, core.ErrBusy) {
		return 500 * time.Millisecond
	}
	return 0
}

// ReasonOf gives the reason that an activity's error carries, or the given one
// where it carries none.
func ReasonOf(err error, otherwise core.Reason) core.Reason {
	var app *temporal.ApplicationError
	if errors.As(err, &app) && app.HasDetails() {
		var r string
		if app.Details(&r) == nil && r != "" {
			return core.Reason(r)
		}
	}
	return otherwise
}

// IsFinal is true for the error of an activity that says no for good: nothing
// was done.
func IsFinal(err error) bool {
	var app *temporal.ApplicationError
	return errors.As(err, &app) && app.NonRetryable() && app.Type() != ErrTypeMaybeWritten
}
