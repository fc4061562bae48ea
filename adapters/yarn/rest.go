package yarn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"

	"flinkscaler/adapters/flink"
	"flinkscaler/core"
)

// request is one call of a ResourceManager's REST API.
type request struct {
	op string
	// subject is the one thing that the request is about, such as an application's id.
	// Only of that can an answer say that it is not there.
	subject string
	// method is empty for GET. path begins behind /ws/v1/cluster. body is JSON.
	method string
	path   string
	query  url.Values
	body   []byte
}

// fetch asks the active ResourceManager and decodes its answer. An answer that does
// not decode is core.ErrUnreachable, as none is.
func fetch[T any](ctx context.Context, c *Cluster, r request, decode func([]byte) (T, error)) (T, error) {
	var out T
	a, err := c.ask(ctx, r.method != http.MethodPost, func(ctx context.Context, m *manager) (answer, error) {
		return c.do(ctx, r.method, m.api(r.path, r.query), r.body)
	}, c.direct(r))
	if err == nil {
		if out, err = decode(a.body); err != nil {
			err = fmt.Errorf("%w: the answer cannot be read: %s", core.ErrUnreachable, cut(err.Error()))
		}
	}
	if err != nil {
		var none T
		return none, &core.OpError{Op: r.op, Subject: r.subject, Hint: hint(err), Err: err}
	}
	return out, nil
}

// answer is what came back over HTTP.
type answer struct {
	status int
	// host is who answered, kind the media type of the body.
	host, kind, location string
	header               http.Header
	body                 []byte
}

// data is true for the only kind of body that is not for people.
func (a answer) data() bool { return a.kind == "application/json" }

// do sends one request to one place with the credentials of the cluster, and reads
// the whole answer. Its errors match core.ErrUnreachable or core.ErrUnauthorized.
func (c *Cluster) do(ctx context.Context, method string, u *url.URL, body []byte) (answer, error) {
	parent := ctx
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return answer{}, c.late(parent, u, errors.New("too many requests in flight"))
	}
	if c.cfg.User != "" {
		u = addQuery(u, "user.name", c.cfg.User)
	}
	if method == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return answer{}, fmt.Errorf("%w: the request could not be made", core.ErrUnreachable)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "flinkscaler")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	secrets, err := c.login().Authorize(req)
	if err != nil {
		return answer{}, err
	}
	res, err := c.client.Do(req)
	if err != nil {
		return answer{}, c.late(parent, u, err)
	}
	defer func() { _ = res.Body.Close() }()
	read, err := io.ReadAll(io.LimitReader(res.Body, c.maxBody+1))
	if err != nil {
		return answer{}, c.late(parent, u, err)
	}
	if int64(len(read)) > c.maxBody {
		return answer{}, fmt.Errorf("%w: the answer of %s is larger than %d bytes", core.ErrUnreachable, u.Host, c.maxBody)
	}
	for _, s := range secrets { // a gateway may repeat what it was sent
		read = bytes.ReplaceAll(read, []byte(s), []byte("(hidden)"))
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return answer{status: res.StatusCode, host: u.Host, kind: kind, location: res.Header.Get("Location"), header: res.Header, body: read}, nil
}

// login are the credentials as they are configured.
func (c *Cluster) login() flink.Config {
	return flink.Config{Username: c.cfg.Username, UsernameFile: c.cfg.UsernameFile, PasswordFile: c.cfg.PasswordFile}
}

func addQuery(u *url.URL, key, value string) *url.URL {
	out := *u
	query := encode(url.Values{key: {value}})
	if out.RawQuery != "" {
		query = out.RawQuery + "&" + query
	}
	out.RawQuery = query
	return &out
}

// late says why nothing came. It matches core.ErrUnreachable, the caller's ctx error
// where that is the cause, and an error of the transport that has a meaning.
func (c *Cluster) late(parent context.Context, u *url.URL, err error) error {
	var inner *url.Error // its text repeats the URL
	if errors.As(err, &inner) {
		err = inner.Err
	}
	switch {
	case parent.Err() != nil:
		return fmt.Errorf("%w: %w", core.ErrUnreachable, context.Cause(parent))
	case errors.Is(err, core.ErrUnauthorized):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: no answer of %s within %s", core.ErrUnreachable, u.Host, c.timeout)
	case errors.As(err, new(*dialError)):
		return fmt.Errorf("%w: %s: %w", core.ErrUnreachable, u.Host, err)
	}
	return fmt.Errorf("%w: %s: %s", core.ErrUnreachable, u.Host, cut(err.Error()))
}

// fromJSON decodes one JSON value.
func fromJSON[T any](b []byte) (T, error) {
	var v T
	err := json.Unmarshal(b, &v)
	return v, err
}
