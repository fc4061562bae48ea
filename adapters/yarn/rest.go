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

	"flinkscaler/core"
)

// request is one call of a ResourceManager's REST API.
type request struct {
	op, subject string
	// method is empty for GET. path begins behind /ws/v1/cluster.
	method string
	path   string
	query  url.Values
	body   []byte
}

// fetch asks the active ResourceManager and decodes its answer.
func fetch[T any](ctx context.Context, c *Cluster, r request, decode func([]byte) (T, error)) (T, error) {
	var none T
	fail := func(err error) (T, error) {
		return none, &core.OpError{Op: r.op, Subject: r.subject, Err: err}
	}
	var last error
	for _, base := range c.addresses {
		body, err := c.exchange(ctx, base, r)
		if err != nil {
			last = err
			if errors.Is(err, core.ErrUnreachable) {
				continue
			}
			return fail(err)
		}
		v, err := decode(body)
		if err != nil {
			return fail(fmt.Errorf("%w: the answer cannot be read: %w", core.ErrUnreachable, err))
		}
		return v, nil
	}
	return fail(last)
}

// exchange asks one ResourceManager.
func (c *Cluster) exchange(ctx context.Context, base *url.URL, r request) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	u := base.JoinPath("/ws/v1/cluster", r.path)
	query := r.query
	if c.cfg.User != "" {
		query = url.Values{"user.name": {c.cfg.User}}
		for k, v := range r.query {
			query[k] = v
		}
	}
	u.RawQuery = query.Encode()
	method := r.method
	if method == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", core.ErrUnreachable, err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, c.maxBody+1))
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", core.ErrUnreachable, err)
	case int64(len(body)) > c.maxBody:
		return nil, fmt.Errorf("%w: the answer is larger than %d bytes", core.ErrUnreachable, c.maxBody)
	case res.StatusCode == http.StatusNotFound && kind == "application/json":
		return nil, fmt.Errorf("%w: %s", core.ErrNotFound, u.Host)
	case res.StatusCode/100 != 2 || kind != "application/json":
		return nil, fmt.Errorf("%w: %s answers %d with %q", core.ErrUnreachable, u.Host, res.StatusCode, kind)
	}
	return body, nil
}

// fromJSON decodes one JSON value.
func fromJSON[T any](b []byte) (T, error) {
	var v T
	err := json.Unmarshal(b, &v)
	return v, err
}
