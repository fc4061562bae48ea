package flink

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"flinkscaler/core"
)

// maxRequestLine bounds path and query of a request. Flink takes 4096 bytes of
// request line; the rest is for the method, the protocol and a proxy's prefix.
const maxRequestLine = 3500

// request is one question to the cluster.
type request struct {
	op      string // for errors, such as "read job"
	subject string // for errors, such as a job id
	path    string // escaped, with query, beginning with "/"
	method  string // empty for GET
	body    []byte // JSON, of a request that changes something
}

// changes is true for a request that must not be sent twice by accident.
func (r request) changes() bool { return r.method != "" }

// fetch asks and decodes. An answer that does not decode is an error of the
// same kind as no answer.
func fetch[T any](ctx context.Context, c *Cluster, r request, decode func([]byte) (T, error)) (T, error) {
	var out T
	body, err := c.do(ctx, r)
	if err == nil {
		if out, err = decode(body); err != nil {
			err = badBody(err)
		}
	}
	if err != nil {
		var none T
		return none, &core.OpError{Op: r.op, Subject: r.subject, Hint: hint(err), Err: err}
	}
	return out, nil
}

// do asks the addresses in turn until one gives an answer that is worth
// something. What changes something goes to the next address only when nothing of it was sent.
func (c *Cluster) do(ctx context.Context, r request) ([]byte, error) {
	var failures []error
	first := int(c.answered.Load())
	for i := range c.addresses {
		at := (first + i) % len(c.addresses)
		body, sent, err := c.try(ctx, c.addresses[at], r, len(c.addresses)-i)
		if err == nil {
			c.answered.Store(int32(at)) //nolint:gosec // an index into a short list
			return body, nil
		}
		if len(c.addresses) > 1 {
			err = fmt.Errorf("%s: %w", c.addresses[at].Host, err)
		}
		failures = append(failures, err)
		if ctx.Err() != nil || !elsewhere(err) || (sent && r.changes()) {
			return nil, err
		}
	}
	return nil, mostTelling(failures)
}

// elsewhere is true for a failure that another JobManager may not have.
func elsewhere(err error) bool {
	for _, e := range []error{core.ErrUnreachable, core.ErrNoLeader, core.ErrNotReady} {
		if errors.Is(err, e) {
			return true
		}
	}
	return errors.Is(err, core.ErrNotFlink) && !errors.Is(err, errNoSuchPath)
}

// mostTelling picks the failure that says most about the cluster as a whole:
// one JobManager that is in an election says more than one that is down.
func mostTelling(failures []error) error {
	for _, e := range []error{core.ErrNotReady, core.ErrNoLeader, core.ErrUnreachable} {
		for _, f := range failures {
			if errors.Is(f, e) {
				return f
			}
		}
	}
	return failures[0]
}

// try asks one address once. left is how many addresses are still to be tried,
// this one included: they share what time there is. sent says whether any of
// the request may have left us.
func (c *Cluster) try(ctx context.Context, base *url.URL, r request, left int) (body []byte, sent bool, err error) {
	limit := c.timeout
	if deadline, ok := ctx.Deadline(); ok && left > 1 {
		limit = min(limit, time.Until(deadline)/time.Duration(left))
	}
	parent := ctx
	ctx, cancel := context.WithTimeout(parent, limit)
	defer cancel()
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return nil, false, lateness(parent, limit, errors.New("too many requests in flight"))
	}
	var mark sendMark
	a, secrets, err := c.exchange(mark.watch(ctx), base, r)
	if err != nil {
		var told *core.OpError
		switch {
		case errors.As(err, &told) && parent.Err() == nil: // a transport that knows what is wrong
			err = told
		case !errors.Is(err, core.ErrUnauthorized) && !errors.Is(err, core.ErrNotFlink):
			err = lateness(parent, limit, err)
		}
		return nil, mark.sent(), err
	}
	if err := translate(a); err != nil {
		return nil, true, Redacted(err, secrets)
	}
	return a.body, true, nil
}

// sendMark sees whether a request left us. A transport that does not tell is
// taken to have sent it.
type sendMark struct{ began, wrote atomic.Bool }

func (m *sendMark) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:      func(string) { m.began.Store(true) },
		WroteHeaders: func() { m.wrote.Store(true) },
	})
}

func (m *sendMark) sent() bool { return m.wrote.Load() || !m.began.Load() }

// lateness says why nothing came: the caller gave up, our time-out, or the
// network. It matches core.ErrUnreachable, and the caller's ctx error too.
func lateness(parent context.Context, limit time.Duration, err error) error {
	if parent.Err() != nil {
		return fmt.Errorf("%w: %w", core.ErrUnreachable, context.Cause(parent))
	}
	var inner *url.Error // its text repeats the URL
	if errors.As(err, &inner) {
		err = inner.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: no answer within %s", core.ErrUnreachable, limit.Round(time.Millisecond))
	}
	return fmt.Errorf("%w: %s", core.ErrUnreachable, cut(err.Error(), maxErrorText))
}

// exchange sends a request and reads the whole answer.
func (c *Cluster) exchange(ctx context.Context, base *url.URL, r request) (answer, []string, error) {
	method := r.method
	if method == "" {
		method = http.MethodGet
	}
	body := io.Reader(nil)
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, method, base.String()+r.path, body)
	if err != nil {
		return answer{}, nil, errors.New("the request could not be made")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "flinkscaler")
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	secrets, err := c.login.authorize(req)
	if err != nil {
		return answer{}, nil, err
	}
	res, err := c.client.Do(req)
	if err != nil {
		return answer{}, secrets, err
	}
	defer func() { _ = res.Body.Close() }()
	read, err := io.ReadAll(io.LimitReader(res.Body, c.maxBody+1))
	if err != nil {
		return answer{}, secrets, err
	}
	if int64(len(read)) > c.maxBody {
		return answer{}, secrets, fmt.Errorf("%w: the answer is larger than %d bytes (maxBodyBytes)", core.ErrNotFlink, c.maxBody)
	}
	return answer{
		status:      res.StatusCode,
		contentType: res.Header.Get("Content-Type"),
		location:    res.Header.Get("Location"),
		body:        read,
	}, secrets, nil
}

// Redacted keeps the meaning of an error and takes secrets out of its text.
func Redacted(err error, secrets []string) error {
	text := Hide(err.Error(), secrets)
	if text == err.Error() {
		return err
	}
	return &redactedError{text: text, err: err}
}

type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }

// Is matches what the original matches; the original's text stays out of
// reach.
func (e *redactedError) Is(target error) bool { return errors.Is(e.err, target) }

// fromJSON decodes a body that is one JSON value.
func fromJSON[T any](b []byte) (T, error) {
	var out T
	err := json.Unmarshal(b, &out)
	return out, err
}

// jobPath is the path of something of a job.
func jobPath(job, rest string) string { return "/v1/jobs/" + url.PathEscape(job) + rest }
