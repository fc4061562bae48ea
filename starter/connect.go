package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
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

// lookupEnv adapts a function to envconfig's interface.
type lookupEnv func(string) (string, bool)

func (l lookupEnv) LookupEnv(k string) (string, bool) { return l(k) }
func (l lookupEnv) Environ() []string                 { return os.Environ() }

// options resolves the settings: flags before variables before the profile.
func (s settings) options(lookup lookupEnv) (client.Options, endpoint, error) {
	profile, err := envconfig.LoadClientConfigProfile(envconfig.LoadClientConfigProfileOptions{ConfigFileProfile: s.Profile, EnvLookup: lookup})
	if err != nil {
		return client.Options{}, endpoint{}, badProfile(s, lookup, err)
	}
	e := endpoint{From: s.origin(lookup, profile.Address)}
	if s.Address != "" {
		profile.Address = s.Address
	}
	if s.Namespace != "" {
		profile.Namespace = s.Namespace
	}
	opts, err := profile.ToClientOptions(envconfig.ToClientOptionsRequest{IncludeRemoteCodec: true})
	if err != nil {
		return client.Options{}, endpoint{}, usage(fmt.Sprintf("the connection settings cannot be used: %v", err), "Check the TEMPORAL_TLS_* variables and the profile.")
	}
	opts.HostPort = orElse(opts.HostPort, client.DefaultHostPort)
	opts.Namespace = orElse(opts.Namespace, client.DefaultNamespace)
	opts.Logger = hclog.NewNullLogger()
	e.Address, e.Namespace = opts.HostPort, opts.Namespace
	return opts, e, nil
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// origin says where the address comes from.
func (s settings) origin(lookup lookupEnv, found string) string {
	if s.Address != "" {
		return "from --address"
	}
	if v, ok := lookup("TEMPORAL_ADDRESS"); ok && v != "" {
		return "from TEMPORAL_ADDRESS"
	}
	if found != "" {
		return fmt.Sprintf("from profile %q in %s", s.profile(lookup), configFile(lookup))
	}
	return "the default"
}

func (s settings) profile(lookup lookupEnv) string {
	fromEnv, _ := lookup("TEMPORAL_PROFILE")
	return orElse(s.Profile, orElse(fromEnv, envconfig.DefaultConfigFileProfile))
}

func configFile(lookup lookupEnv) string {
	file, _ := lookup("TEMPORAL_CONFIG_FILE")
	return orElse(file, envconfig.DefaultConfigFilePath())
}

func badProfile(s settings, lookup lookupEnv, err error) *failure {
	f := usage(fmt.Sprintf("the profile %q cannot be used: %v", s.profile(lookup), err), "")
	f.do = "Check " + configFile(lookup) + ", --profile and TEMPORAL_PROFILE."
	config, loadErr := envconfig.LoadClientConfig(envconfig.LoadClientConfigOptions{EnvLookup: lookup})
	if loadErr != nil || len(config.Profiles) == 0 {
		return f
	}
	var known []string
	for name := range config.Profiles {
		known = append(known, name)
	}
	slices.Sort(known)
	f.do = fmt.Sprintf("Known in %s are %s.", configFile(lookup), strings.Join(known, ", "))
	return f
}

// dial connects and makes sure that the server answers.
func dial(ctx context.Context, opts client.Options, e endpoint) (server, error) {
	if err := knock(ctx, opts.HostPort); err != nil {
		return nil, unreachable(e, err)
	}
	c, err := client.DialContext(ctx, opts)
	if err == nil {
		return temporalServer{c}, nil
	}
	err = translate(ctx, err, false)
	if errors.Is(err, errDenied) {
		return nil, denied(e, err)
	}
	return nil, unreachable(e, err)
}

const knockTimeout = 3 * time.Second

// knock finds a closed port or an unknown host at once, which the SDK would
// try again and again. Behind a proxy only the SDK knows the way.
func knock(ctx context.Context, address string) error {
	for _, v := range []string{"HTTPS_PROXY", "https_proxy"} {
		if os.Getenv(v) != "" {
			return nil
		}
	}
	if _, _, err := net.SplitHostPort(address); err != nil || strings.Contains(address, "://") {
		return nil //nolint:nilerr // some other form that gRPC understands
	}
	ctx, cancel := context.WithTimeout(ctx, knockTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		_, unknown := errors.AsType[*net.DNSError](err)
		if unknown || errors.Is(err, syscall.ECONNREFUSED) {
			return err
		}
		return nil
	}
	return conn.Close()
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
		do:   "Check TEMPORAL_API_KEY, TEMPORAL_TLS_* and TEMPORAL_NAMESPACE.",
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
