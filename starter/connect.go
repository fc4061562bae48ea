package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"

	"flinkscaler/internal/connect"
)

// settings are the flags on how to reach Temporal; what they leave out comes
// from the environment and the profile, as with the temporal CLI.
type settings struct {
	Address, Namespace, Profile string
}

// endpoint is what a connection goes to, and who said so, for error texts.
type endpoint struct {
	Address, From, Namespace string
}

// options resolves the settings: flags before variables before the profile.
func (s settings) options(env connect.Environ) (client.Options, endpoint, error) {
	opts, err := connect.Options(connect.Override{Address: s.Address, Namespace: s.Namespace, Profile: s.Profile, Lookup: env})
	if err != nil {
		return client.Options{}, endpoint{}, badProfile(s, env, err)
	}
	opts.Logger = hclog.NewNullLogger()
	return opts, endpoint{Address: opts.HostPort, From: s.origin(env), Namespace: opts.Namespace}, nil
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// origin says where the address comes from.
func (s settings) origin(env connect.Environ) string {
	if s.Address != "" {
		return "from --address"
	}
	if v, ok := env.LookupEnv("TEMPORAL_ADDRESS"); ok && v != "" {
		return "from TEMPORAL_ADDRESS"
	}
	config, err := envconfig.LoadClientConfig(envconfig.LoadClientConfigOptions{EnvLookup: env})
	if p := config.Profiles[s.profile(env)]; err == nil && p != nil && p.Address != "" {
		return fmt.Sprintf("from profile %q in %s", s.profile(env), configFile(env))
	}
	return "the default"
}

func (s settings) profile(env connect.Environ) string {
	fromEnv, _ := env.LookupEnv("TEMPORAL_PROFILE")
	return orElse(s.Profile, orElse(fromEnv, envconfig.DefaultConfigFileProfile))
}

func configFile(env connect.Environ) string {
	file, _ := env.LookupEnv("TEMPORAL_CONFIG_FILE")
	return orElse(file, envconfig.DefaultConfigFilePath())
}

// badProfile names the profiles that there are.
func badProfile(s settings, env connect.Environ, cause error) *failure {
	f := usage(fmt.Sprintf("the settings of the connection cannot be used: %v", cause), "")
	f.do = "Check " + configFile(env) + ", --profile, and the TEMPORAL_* variables."
	config, err := envconfig.LoadClientConfig(envconfig.LoadClientConfigOptions{EnvLookup: env})
	if err != nil || len(config.Profiles) == 0 || config.Profiles[s.profile(env)] != nil {
		return f
	}
	var known []string
	for name := range config.Profiles {
		known = append(known, name)
	}
	slices.Sort(known)
	f.do = fmt.Sprintf("Known in %s are %s.", configFile(env), strings.Join(known, ", "))
	return f
}

// dial connects and makes sure that the server answers and has the namespace.
func dial(ctx context.Context, opts client.Options, e endpoint, env connect.Environ) (server, error) {
	if err := knock(ctx, opts.HostPort, env); err != nil {
		return nil, unreachable(e, err)
	}
	c, err := connect.Dial(ctx, opts)
	if err == nil {
		return temporalServer{c}, nil
	}
	if failed, ok := errors.AsType[*connect.Error](err); ok {
		err = failed.Err
	}
	switch translated := translate(ctx, err, false); {
	case errors.Is(translated, errDenied):
		return nil, denied(e, translated)
	case errors.Is(translated, errNamespace), errors.Is(translated, errNotFound):
		return nil, noNamespace(e, translated)
	default:
		return nil, unreachable(e, translated)
	}
}

const knockTimeout = 3 * time.Second

// knock finds a closed port or an unknown host at once, which the SDK would
// try again and again. Behind a proxy only the SDK knows the way.
func knock(ctx context.Context, address string, env connect.Environ) error {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy"} {
		if v, _ := env.LookupEnv(name); v != "" {
			return nil
		}
	}
	if _, _, err := net.SplitHostPort(address); err != nil || strings.Contains(address, "://") {
		return nil //nolint:nilerr // some other form that gRPC understands
	}
	ctx, cancel := context.WithTimeout(ctx, knockTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err == nil {
		return conn.Close()
	}
	if _, unknown := errors.AsType[*net.DNSError](err); unknown || errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return nil //nolint:nilerr // the SDK may know better
}

func unreachable(e endpoint, err error) *failure {
	return &failure{
		code: exitFailed, cause: fmt.Errorf("%w: %w", errUnreachable, err),
		what: fmt.Sprintf("the Temporal server at %s (%s) does not answer: %v", e.Address, e.From, plain(err)),
		do:   "Check that it runs, and --address, TEMPORAL_ADDRESS or the profile; with TLS also the TEMPORAL_TLS_* variables.",
	}
}

func denied(e endpoint, err error) *failure {
	return &failure{
		code: exitFailed, cause: err,
		what: fmt.Sprintf("the Temporal server at %s (%s) refuses: %v", e.Address, e.From, plain(err)),
		do:   "Check TEMPORAL_API_KEY, the TEMPORAL_TLS_* variables, and what they may do in namespace " + e.Namespace + ".",
	}
}

func noNamespace(e endpoint, err error) *failure {
	return &failure{
		code: exitFailed, cause: err,
		what: fmt.Sprintf("the Temporal server at %s (%s) has no namespace %q", e.Address, e.From, e.Namespace),
		do:   "Check --namespace, TEMPORAL_NAMESPACE or the profile.",
	}
}

// plain takes our own prefix off an error's text.
func plain(err error) string {
	text := err.Error()
	for _, e := range []error{errUnreachable, errDenied, errNoWorker, errRejected, errEnded, errNotFound, errNamespace} {
		text = strings.TrimPrefix(text, e.Error()+": ")
	}
	return text
}
