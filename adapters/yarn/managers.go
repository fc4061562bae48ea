package yarn

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"flinkscaler/core"
)

// manager is one ResourceManager, or a gateway in front of them.
type manager struct {
	base *url.URL
	// gateway is true for Knox, which serves the API under a shorter path.
	gateway bool
}

// gatewayPath is how the path of Knox's service for ResourceManagers ends.
const gatewayPath = "/resourcemanager"

func newManager(address string) (*manager, error) {
	u, err := url.Parse(strings.TrimRight(address, "/"))
	if err != nil {
		return nil, errors.New("an address is not a URL")
	}
	return &manager{base: u, gateway: strings.HasSuffix(u.Path, gatewayPath)}, nil
}

// api is the URL of a path of the REST API.
func (m *manager) api(path string, query url.Values) *url.URL {
	prefix := "/ws/v1/cluster"
	if m.gateway {
		prefix = "/v1/cluster"
	}
	u := m.base.JoinPath(prefix, path)
	u.RawQuery = encode(query)
	return u
}

// encode writes spaces in the way that every server and proxy reads.
func encode(query url.Values) string { return strings.ReplaceAll(query.Encode(), "+", "%20") }

// is true where a redirect leads to this one.
func (m *manager) is(location *url.URL) bool {
	return location.Scheme == m.base.Scheme && strings.EqualFold(location.Host, m.base.Host)
}

// maxRedirects bounds how often a standby's word is followed: at the moment of a
// failover two of them may name each other, or one itself.
const maxRedirects = 2

// judge says what an answer of a manager means: nil for one that is as good as any,
// a manager to ask in its place, or an error.
type judge func(*manager, answer) (*manager, error)

// ask sends a request to the active manager, else to the others in turn.
func (c *Cluster) ask(ctx context.Context, repeat bool, send func(context.Context, *manager) (answer, error), j judge) (answer, error) {
	order, err := c.order(ctx)
	if err != nil {
		return answer{}, err
	}
	var failures []error
	for _, m := range order {
		a, err := c.follow(ctx, m, send, j)
		if err == nil {
			return a, nil
		}
		failures = append(failures, err)
		if ctx.Err() != nil || !elsewhere(err) || !repeat && !errors.As(err, new(*dialError)) {
			return answer{}, err
		}
	}
	return answer{}, mostTelling(failures)
}

// follow asks a manager, and whom it names as the active one.
func (c *Cluster) follow(ctx context.Context, m *manager, send func(context.Context, *manager) (answer, error), j judge) (answer, error) {
	for range maxRedirects + 1 {
		a, err := send(ctx, m)
		if err != nil {
			c.forget(m)
			return answer{}, err
		}
		next, err := j(m, a)
		if next != nil || err != nil && elsewhere(err) {
			c.forget(m)
		}
		if err != nil {
			return answer{}, err
		}
		if next == nil {
			c.active.Store(m)
			return a, nil
		}
		m = next
	}
	return answer{}, fmt.Errorf("%w: the ResourceManagers name each other as the active one", core.ErrNoLeader)
}

func (c *Cluster) forget(m *manager) { c.active.CompareAndSwap(m, nil) }

// elsewhere is true for a failure that another manager may not have.
func elsewhere(err error) bool {
	return errors.Is(err, core.ErrUnreachable) || errors.Is(err, core.ErrNoLeader)
}

// mostTelling picks the failure that says most: one manager that is in an election
// says more than one that is down. All failures are those of elsewhere.
func mostTelling(failures []error) error {
	for _, f := range failures {
		if errors.Is(f, core.ErrNoLeader) {
			return f
		}
	}
	if len(failures) == 1 {
		return failures[0]
	}
	texts := make([]string, len(failures))
	for i, f := range failures {
		texts[i] = strings.TrimPrefix(f.Error(), core.ErrUnreachable.Error()+": ")
	}
	return fmt.Errorf("%w: %s", core.ErrUnreachable, cut(strings.Join(texts, "; ")))
}

// order gives the managers, first the one that acts as far as that is known.
func (c *Cluster) order(ctx context.Context) ([]*manager, error) {
	first := c.active.Load()
	if first == nil && len(c.managers) > 1 {
		found, err := c.probed.Get(ctx, probeFor, c.probe)
		if err != nil {
			return nil, err
		}
		first = found
	}
	if first == nil {
		return c.managers, nil
	}
	out := []*manager{first}
	return append(out, slices.DeleteFunc(slices.Clone(c.managers), func(m *manager) bool { return m == first })...), nil
}

// probeFor is how long nobody asks again which manager acts, and probeLimit how long
// that may take.
const (
	probeFor   = time.Second
	probeLimit = 3 * time.Second
)

// probe asks all managers at once which of them acts: one that hangs costs nothing
// then. nil without an error: that could not be told. core.ErrNoLeader: all that
// answer say that they do not act.
func (c *Cluster) probe(ctx context.Context) (*manager, error) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	type said struct {
		by    *manager
		state string
		err   error
	}
	all := make(chan said, len(c.managers))
	for _, m := range c.managers {
		go func() {
			state, err := c.haState(ctx, m)
			all <- said{m, state, err}
		}()
	}
	idle, odd := 0, 0
	for range c.managers {
		switch s := <-all; {
		case s.err == nil && s.state == "ACTIVE":
			return s.by, nil
		case s.err == nil && s.state != "":
			idle++
		case !errors.Is(s.err, core.ErrUnreachable):
			odd++
		}
	}
	if idle > 0 && odd == 0 {
		return nil, fmt.Errorf("%w: no ResourceManager is active", core.ErrNoLeader)
	}
	return nil, nil //nolint:nilnil // not knowing which one acts is no failure: they are asked in turn
}

// haState asks one manager whether it acts: every one answers that by itself.
func (c *Cluster) haState(ctx context.Context, m *manager) (string, error) {
	a, err := c.do(ctx, http.MethodGet, m.api("/info", nil), nil)
	if err != nil {
		return "", err
	}
	if err := translate(a, request{}); err != nil {
		return "", err
	}
	info, err := decodeInfo(a.body)
	return info.State, err
}

// direct is the judge of answers of the REST API: it finds the active manager by what
// a standby says.
func (c *Cluster) direct(r request) judge {
	return func(m *manager, a answer) (*manager, error) {
		if a.status/100 != 3 {
			return nil, translate(a, r)
		}
		location, err := m.base.Parse(a.location)
		switch {
		case a.location == "" || err != nil:
			return nil, fmt.Errorf("%w: %s knows of no active ResourceManager", core.ErrNoLeader, m.base.Host)
		case strings.HasPrefix(location.Path, "/ws/") || m.gateway:
		default: // a page to log in, or for people
			return nil, fmt.Errorf("%w: %s sends to a page of %s", core.ErrUnreachable, m.base.Host, location.Host)
		}
		for _, other := range c.managers {
			if other.is(location) {
				return other, nil
			}
		}
		return nil, fmt.Errorf("%w: %s names %s as the active one, which is not among the resourceManagers of the cluster: nothing is sent there", core.ErrNoLeader, m.base.Host, location.Host)
	}
}
