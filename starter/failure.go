package main

import (
	"context"
	"errors"
	"strings"
)

// Exit codes, part of the contract with scripts.
const (
	exitFailed = 1
	exitUsage  = 2
)

// failure is an error for a person: what is wrong in one sentence, details one
// a line, and what to do about it.
type failure struct {
	code    int
	what    string
	details []string
	do      string
	cause   error
}

func (f *failure) Error() string { return f.what }
func (f *failure) Unwrap() error { return f.cause }

// text is what is printed.
func (f *failure) text() string {
	var b strings.Builder
	b.WriteString("error: " + f.what + "\n")
	for _, d := range f.details {
		b.WriteString("  " + d + "\n")
	}
	if f.do != "" {
		b.WriteString(f.do + "\n")
	}
	return b.String()
}

// failed is a failure of what was asked for, usage one of how it was asked.
func failed(what, do string) *failure { return &failure{code: exitFailed, what: what, do: do} }
func usage(what, do string) *failure  { return &failure{code: exitUsage, what: what, do: do} }

// asFailure gives every error a code: what comes from cobra is bad usage.
func asFailure(ctx context.Context, err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if ctx.Err() != nil {
		return failed("interrupted", "")
	}
	return usage(err.Error(), "See flinkscaler --help.")
}
