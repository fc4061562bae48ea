package core

import (
	"errors"
	"fmt"
)

// The few meanings of failure. Adapters translate into them once, at their
// boundary; everything above matches with errors.Is.
var (
	// ErrNotFound: the job or cluster is not there. It is an answer of a
	// healthy system, not a failure to ask.
	ErrNotFound = errors.New("not found")
	// ErrAmbiguous: more than one live job fits the target.
	ErrAmbiguous = errors.New("more than one job matches")
	// ErrUnreachable: no answer, or one cut short.
	ErrUnreachable = errors.New("unreachable")
	// ErrNoLeader: it answers but cannot act now: election, failover.
	ErrNoLeader = errors.New("no leader")
	// ErrBusy: another change is in flight; the same call may pass later.
	ErrBusy = errors.New("busy")
	// ErrNotReady: the job is there but not in a state to answer.
	ErrNotReady = errors.New("not ready")
	// ErrForeign: somebody else has taken over what would be written.
	ErrForeign = errors.New("taken over by somebody else")
	// ErrNotAdaptive: the scheduler cannot change parallelism in place.
	ErrNotAdaptive = errors.New("scheduler is not adaptive")
	// ErrRefused: understood and refused for good; asking again is useless.
	ErrRefused = errors.New("refused")
	// ErrNoRoom is ErrRefused because what it takes cannot be had now.
	ErrNoRoom = fmt.Errorf("%w: no room", ErrRefused)
	// ErrUnauthorized: credentials missing, wrong or not sufficient.
	ErrUnauthorized = errors.New("unauthorized")
	// ErrNotFlink: something answers that is not Flink's REST API: HTML, a
	// redirect to a login, half a body.
	ErrNotFlink = errors.New("not a Flink REST answer")
)

// OpError is a failure with what was tried, on what, and a hint what to do.
type OpError struct {
	Op      string // such as "put resource requirements"
	Subject string // such as a job id; never a URL with credentials
	Hint    string // one sentence for a person, may be empty
	Err     error
}

// Error gives "op subject: cause (hint)".
func (e *OpError) Error() string {
	s := e.Op
	if e.Subject != "" {
		s += " " + e.Subject
	}
	s += fmt.Sprintf(": %v", e.Err)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Unwrap gives the cause.
func (e *OpError) Unwrap() error { return e.Err }

// ReasonFor translates a failed read into the reason of the hold it causes.
func ReasonFor(err error) Reason {
	for _, m := range []struct {
		err    error
		reason Reason
	}{
		{ErrNotFound, ReasonJobGone},
		{ErrAmbiguous, ReasonJobAmbiguous},
		{ErrNoLeader, ReasonNoLeader},
		{ErrBusy, ReasonBusy},
		{ErrNotReady, ReasonJobNotRunning},
		{ErrForeign, ReasonForeignWriter},
		{ErrNotAdaptive, ReasonNotAdaptive},
		{ErrNoRoom, ReasonNoRoom},
		{ErrRefused, ReasonRefused},
		{ErrUnauthorized, ReasonUnauthorized},
		{ErrNotFlink, ReasonNotFlink},
		{ErrUnreachable, ReasonUnreachable},
	} {
		if errors.Is(err, m.err) {
			return m.reason
		}
	}
	return ReasonUnreachable
}
