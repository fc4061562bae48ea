package connect

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/hashicorp/go-hclog"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"flinkscaler/internal/logging"
)

// What is used where nobody says anything, as by the temporal CLI.
const (
	DefaultAddress   = "127.0.0.1:7233"
	DefaultNamespace = client.DefaultNamespace
)

// Times of the first contact.
const (
	// attemptTime bounds one attempt to reach the server.
	attemptTime = 10 * time.Second
	// firstPause and lastPause bound the growing pauses between attempts: a
	// server that just starts is found soon, one that is down is not bothered.
	firstPause = time.Second
	lastPause  = 30 * time.Second
)

// Override is what the caller's configuration says; an empty field leaves it
// to the profile file and the environment.
type Override struct {
	Address   string
	Namespace string
	// Profile is a section of the profile file.
	Profile string
	// Lookup replaces the process' environment, nil for that.
	Lookup envconfig.EnvLookup
}

// Options gives the options of a client: profile file < TEMPORAL_* variables <
// override. It does not reach out.
func Options(o Override) (client.Options, error) {
	profile, err := envconfig.LoadClientConfigProfile(envconfig.LoadClientConfigProfileOptions{
		ConfigFileProfile: o.Profile, ConfigFileStrict: true, EnvLookup: o.Lookup,
	})
	if err != nil {
		return client.Options{}, fmt.Errorf("temporal profile: %w", withoutValues(err))
	}
	if o.Address != "" {
		profile.Address = o.Address
	}
	if o.Namespace != "" {
		profile.Namespace = o.Namespace
	}
	opts, err := profile.ToClientOptions(envconfig.ToClientOptionsRequest{})
	if err != nil {
		return client.Options{}, fmt.Errorf("temporal profile: %w", err)
	}
	if opts.HostPort == "" {
		opts.HostPort = DefaultAddress
	}
	if opts.Namespace == "" {
		opts.Namespace = DefaultNamespace
	}
	return opts, nil
}

// withoutValues cuts an error of the profile file down to its place: the text
// of the parser repeats what stands there, which may be a key.
func withoutValues(err error) error {
	var syntax toml.ParseError
	if !errors.As(err, &syntax) {
		return err
	}
	if syntax.LastKey == "" {
		return fmt.Errorf("the profile file is not TOML at line %d", syntax.Position.Line)
	}
	return fmt.Errorf("the profile file is not TOML at line %d, after key %s", syntax.Position.Line, syntax.LastKey)
}

// Dial reaches the server and looks for the namespace, once.
func Dial(ctx context.Context, opts client.Options) (client.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	c, err := client.DialContext(ctx, opts)
	if err != nil {
		return nil, &Error{Address: opts.HostPort, Namespace: opts.Namespace, Err: err}
	}
	_, err = c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: opts.Namespace})
	if err != nil {
		c.Close()
		return nil, &Error{Address: opts.HostPort, Namespace: opts.Namespace, Err: err}
	}
	return c, nil
}

// Wait tries until the server is reached or ctx ends, and logs each failure.
// failed, which may be nil, is told each of them too.
func Wait(ctx context.Context, opts client.Options, log hclog.Logger, failed func(error)) (client.Client, error) {
	pause := firstPause
	for attempt := 1; ; attempt++ {
		c, err := Dial(ctx, opts)
		if err == nil {
			return c, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if failed != nil {
			failed(err)
		}
		log.Warn("cannot reach Temporal; nothing is scaled until it answers",
			logging.KeyAddress, opts.HostPort, logging.KeyNamespace, opts.Namespace,
			logging.KeyError, cause(err), logging.KeyDo, Hint(cause(err)), logging.KeyAttempt, attempt, logging.KeyRetryIn, pause)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
}

// Error is a failed attempt to reach Temporal.
type Error struct {
	Address   string
	Namespace string
	Err       error
}

// Error names address and namespace, the cause and what to do.
func (e *Error) Error() string {
	return fmt.Sprintf("reach Temporal at %s, namespace %s: %v (%s)", e.Address, e.Namespace, e.Err, Hint(e.Err))
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// cause is the bare cause, where address and hint stand beside it.
func cause(err error) error {
	var e *Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// Hint says in one sentence what a person can do about a failed attempt.
func Hint(err error) string {
	var (
		noNamespace *serviceerror.NamespaceNotFound
		notFound    *serviceerror.NotFound
		denied      *serviceerror.PermissionDenied
	)
	switch {
	case errors.As(err, &noNamespace), errors.As(err, &notFound):
		return "create the namespace, or name another one in temporal.namespace or TEMPORAL_NAMESPACE"
	case errors.As(err, &denied), status.Code(err) == codes.Unauthenticated:
		return "check TEMPORAL_API_KEY or the client certificate, and what they may do in this namespace"
	case strings.Contains(err.Error(), "authentication handshake failed"):
		// gRPC keeps only the text of it.
		return "check TEMPORAL_TLS, TEMPORAL_TLS_SERVER_CA_CERT_PATH and TEMPORAL_TLS_SERVER_NAME; an API key turns TLS on, TEMPORAL_TLS=false turns it off"
	}
	return "start the server (for trials: temporal server start-dev), or set temporal.address or TEMPORAL_ADDRESS"
}

// Environ is a Lookup in a given environment, in the form of os.Environ.
type Environ []string

// Environ gives all variables.
func (e Environ) Environ() []string { return e }

// LookupEnv gives one; the last of a name wins, as for a process.
func (e Environ) LookupEnv(name string) (string, bool) {
	for i := len(e) - 1; i >= 0; i-- {
		if n, v, ok := strings.Cut(e[i], "="); ok && n == name {
			return v, true
		}
	}
	return "", false
}
