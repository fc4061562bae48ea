package yarn

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"syscall"

	"flinkscaler/core"
)

// RoundTrip sends a request to where the application is now. Its errors are
// *core.OpError, or those of the transport.
//
// On a failure the ResourceManager is asked again, and the request tried where it
// says that the application is: one that changes something only if none of it was
// sent. Where an address cannot be reached from here, the ResourceManager's web proxy
// carries what it can.
func (r *route) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	_, _, address := r.seen()
	if address != "" && r.blocked() && r.proxied(req.Method) {
		return r.proxy(req)
	}
	err := error(&dialError{errors.New("YARN has shown no address yet")})
	if address != "" {
		var res *http.Response
		if res, err = r.direct(req, address); err == nil || ctx.Err() != nil {
			return res, err
		}
	}
	app, asked := r.again(ctx)
	if why := r.absent(app, asked, err); why != nil {
		return nil, r.fail(why)
	}
	if now := app.address(); now != address && repeats(req.Method, err) {
		address = now
		var res *http.Response
		if res, err = r.direct(req, address); err == nil || ctx.Err() != nil {
			return res, err
		}
	}
	if !errors.As(err, new(*dialError)) {
		return nil, err
	}
	return r.around(req, address, err)
}

// repeats is true for a request that may be sent again after a failure.
func repeats(method string, err error) bool {
	return method == http.MethodGet || method == http.MethodHead || errors.As(err, new(*dialError))
}

// direct sends a request to an address.
func (r *route) direct(req *http.Request, address string) (*http.Response, error) {
	out := req.Clone(req.Context())
	out.URL.Host, out.Host = address, ""
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		out.Body = body
	}
	res, err := r.cluster.jobs.RoundTrip(out)
	if err == nil {
		r.reached(address)
	}
	return res, err
}

// absent says why there is no address to go on with, nil where there is one. failure
// is what happened at the last one.
func (r *route) absent(app application, asked, failure error) error {
	switch {
	case errors.Is(asked, core.ErrNotFound):
		// It may have forgotten what runs all the same.
		if nobody(failure) || !r.wasMet() && errors.As(failure, new(*dialError)) {
			return fmt.Errorf("%w: the ResourceManager knows no such application, and nothing answers at its last address", core.ErrNotFound)
		}
		return fmt.Errorf("%w: the ResourceManager knows no such application, and its last address cannot be judged: %s", core.ErrUnreachable, words(failure))
	case asked != nil:
		return fmt.Errorf("%w: %s; and no ResourceManager tells where it is now: %s", meaningOf(asked), words(failure), words(asked))
	case app.State.ended():
		return fmt.Errorf("%w: the application is %s", core.ErrNotFound, app.how())
	case app.address() == "":
		return fmt.Errorf("%w: reconnecting; nothing answers at the last address, and YARN shows none, the application is %s", core.ErrNotReady, app.how())
	}
	return nil
}

// nobody is true for a connection that the host itself refused.
func nobody(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// meaningOf is what a failure to ask means for the job: no more than that nothing can
// be said of it.
func meaningOf(err error) error {
	for _, e := range []error{core.ErrNoLeader, core.ErrUnauthorized} {
		if errors.Is(err, e) {
			return e
		}
	}
	return core.ErrUnreachable
}

// words is an error without a name that another meaning has in it.
func words(err error) string {
	if err == nil {
		return "nothing"
	}
	return cut(err.Error())
}

// fail makes the error of the route.
func (r *route) fail(err error) error {
	return &core.OpError{Op: "reach Flink", Subject: r.id, Hint: routeHint(err), Err: err}
}

func routeHint(err error) string {
	switch {
	case errors.Is(err, ErrDirectOnly):
		return "let the worker reach the address: give the jobs a range of ports with rest.bind-port, and open it in the firewall (docs/yarn.md)"
	case errors.Is(err, core.ErrUnauthorized):
		return hint(err)
	}
	return ""
}

// around takes the way through the web proxy for an address that cannot be reached.
func (r *route) around(req *http.Request, address string, failure error) (*http.Response, error) {
	unreached := func() error {
		return r.fail(fmt.Errorf("%w: %s: %s", core.ErrUnreachable, address, words(failure)))
	}
	switch {
	case !r.mayProxy():
		return nil, unreached()
	case r.proxied(req.Method):
		res, err := r.proxy(req)
		switch {
		case err == nil:
			r.close(address)
		case errors.Is(err, core.ErrUnreachable): // both ways
			return nil, r.fail(fmt.Errorf("%w: %s: %s; by the web proxy: %s", core.ErrUnreachable, address, words(failure), words(err)))
		}
		return res, err
	case r.answersProxy(req.Context()):
		return nil, r.fail(fmt.Errorf("%w: %w, and %s cannot be reached from here for a %s: %s", core.ErrRefused, ErrDirectOnly, address, req.Method, words(failure)))
	}
	return nil, unreached()
}

// answersProxy is true where Flink answers through the web proxy: its address is cut
// off then, and not its JobManager gone.
func (r *route) answersProxy(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://flink/v1/config", nil)
	if err != nil {
		return false
	}
	res, err := r.proxy(req)
	if err != nil {
		return false
	}
	return res.StatusCode == http.StatusOK && res.Body.Close() == nil
}
