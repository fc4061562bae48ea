package yarn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"flinkscaler/core"
)

// ErrDirectOnly is a request that only an application's own address takes, where that
// cannot be reached. It comes with core.ErrRefused.
var ErrDirectOnly = errors.New("the ResourceManager's web proxy carries reads and changes in place only; to stop, cancel or submit a job needs its own address")

// maxProxied bounds the body of a request through the proxy.
const maxProxied = 16 << 20

// mayProxy is true where there is a web proxy to use.
func (r *route) mayProxy() bool {
	return !r.cluster.cfg.NoProxy && !r.cluster.managers[0].gateway
}

// proxied is true for a request that the web proxy carries.
func (r *route) proxied(method string) bool {
	return r.mayProxy() && (method == http.MethodGet || method == http.MethodHead || method == http.MethodPut)
}

// proxy sends a request through the web proxy of the active ResourceManager, with the
// credentials for that, and without those for Flink, which it would not pass on.
// Its errors are *core.OpError.
func (r *route) proxy(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.GetBody != nil {
		b, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		if body, err = io.ReadAll(io.LimitReader(b, maxProxied)); err != nil {
			return nil, err
		}
		_ = b.Close()
	}
	path := "/proxy/" + url.PathEscape(r.id) + req.URL.EscapedPath()
	a, err := r.cluster.ask(req.Context(), true, func(ctx context.Context, m *manager) (answer, error) {
		u, err := url.Parse(m.base.String() + path)
		if err != nil {
			return answer{}, fmt.Errorf("%w: no path of a URL", core.ErrUnreachable)
		}
		u.RawQuery = req.URL.RawQuery
		return r.cluster.do(ctx, req.Method, u, body)
	}, judgeProxied)
	if err != nil {
		return nil, &core.OpError{Op: "reach Flink by the web proxy", Subject: r.id, Hint: proxyHint(err), Err: err}
	}
	return &http.Response{
		Status: http.StatusText(a.status), StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)), Request: req,
	}, nil
}

// judgeProxied lets pass what Flink itself answers: JSON. All else is the proxy's.
func judgeProxied(_ *manager, a answer) (*manager, error) {
	switch {
	case a.status/100 == 3 && a.location == "":
		return nil, fmt.Errorf("%w: %s knows of no active ResourceManager", core.ErrNoLeader, a.host)
	case a.status/100 == 3:
		return nil, fmt.Errorf("%w: the web proxy shows the application's page: it is not running now", core.ErrNotReady)
	case a.status == http.StatusUnauthorized || a.status == http.StatusForbidden || a.status == http.StatusProxyAuthRequired:
		return nil, fmt.Errorf("%w: the web proxy answers %d", core.ErrUnauthorized, a.status)
	case a.status == http.StatusMethodNotAllowed || a.status == http.StatusNotImplemented:
		return nil, fmt.Errorf("%w: %w: it answers %d", core.ErrRefused, ErrDirectOnly, a.status)
	case a.data() && !ofServlet(a):
		return nil, nil //nolint:nilnil // as good as any
	case bytes.Contains(a.body[:min(len(a.body), 4096)], []byte(noneActive)):
		return nil, fmt.Errorf("%w: %s knows of no active ResourceManager", core.ErrNoLeader, a.host)
	case a.status/100 == 2:
		return nil, fmt.Errorf("%w: the web proxy answers %d with %s", core.ErrNotFlink, a.status, kindWords(a.kind))
	}
	return nil, fmt.Errorf("%w: the web proxy answers %d with %s", core.ErrUnreachable, a.status, kindWords(a.kind))
}

// ofServlet is true for JSON that the ResourceManager's web server wrote, and not
// Flink.
func ofServlet(a answer) bool {
	_, isRemote := remoteOf(a)
	body, err := fromJSON[struct {
		Servlet string `json:"servlet"`
	}](a.body)
	return isRemote || err == nil && body.Servlet != ""
}

func proxyHint(err error) string {
	switch {
	case errors.Is(err, core.ErrUnauthorized), errors.Is(err, core.ErrNoLeader):
		return hint(err)
	case errors.Is(err, core.ErrNotFlink):
		return "on a cluster with Kerberos the proxy warns everybody but the application's user: run the worker as that, or let it reach the application's own address"
	}
	return routeHint(err)
}
