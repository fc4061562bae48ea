package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"flinkscaler/internal/config"
	"flinkscaler/internal/logging"
)

// version is set by the linker: -ldflags "-X main.version=1.2.3".
var version = "" //nolint:gochecknoglobals // the linker needs a variable

// Exit codes, part of the contract with whatever starts the worker.
const (
	exitOK     = 0
	exitFailed = 1
	exitConfig = 2
)

// usageError is a mistake on the command line.
type usageError struct{ error }

// execute runs the command and gives the exit code.
func execute(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	cmd := newCommand(environ, stderr)
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	at, err := cmd.ExecuteContextC(ctx)
	var (
		usage usageError
		conf  *config.Error
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "%s: %v (see %s --help)\n", name, err, at.CommandPath())
		return exitConfig
	case errors.As(err, &conf):
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		return exitConfig
	}
	fmt.Fprintf(stderr, "%s: %v\n", name, err)
	return exitFailed
}

const name = "flinkscaler-worker"

const long = `flinkscaler-worker runs the workflows that scale Apache Flink jobs.

It needs one configuration file, which names the Flink clusters, and a Temporal
server. The connection to Temporal is the one of the temporal CLI: its profile
file and the TEMPORAL_* variables (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE,
TEMPORAL_API_KEY, TEMPORAL_TLS_...), and temporal.address and
temporal.namespace of the configuration.

A value in the file gives way to the variable (FLINKSCALER_LOG_LEVEL), and that
to the flag (--log-level).

The first SIGINT or SIGTERM lets running activities finish, a second one ends
the process at once. Exit codes: 0 after a signal, 1 after a failure or a second
signal, 2 when the configuration or the command line is wrong.

Health and metrics: /healthz, /readyz and /metrics on http.listen.

The command evaluate prints what would be decided for a job, and discover the jobs
of a Kubernetes cluster; neither needs Temporal.`

const examples = `  # check a configuration, connect to nothing
  flinkscaler-worker --check --config worker.yaml

  # run it against a Temporal server at 127.0.0.1:7233
  flinkscaler-worker --config worker.yaml

  # against another one, with JSON logs
  TEMPORAL_ADDRESS=temporal.example.com:7233 flinkscaler-worker --config worker.yaml --log-format json`

func newCommand(environ []string, stderr io.Writer) *cobra.Command {
	var (
		file  string
		check bool
	)
	cmd := &cobra.Command{
		Use: name + " --config FILE", Short: "Scale Apache Flink jobs", Long: long, Example: examples,
		Version: versionText(), SilenceUsage: true, SilenceErrors: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("unexpected argument %q", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, notes, err := config.Load(config.Source{File: file, Environ: environ, Flags: given(cmd.Flags())})
			if err != nil {
				return err
			}
			if check {
				return say(cmd.OutOrStdout(), cfg, notes)
			}
			return start(cmd.Context(), cfg, notes, environ, stderr)
		},
	}
	cmd.AddCommand(newEvaluate(environ), newDiscover(environ))
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.SetVersionTemplate("{{.Version}}\n")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&file, "config", "c", "", "configuration `FILE` (or "+config.EnvFile+")")
	f.BoolVar(&check, "check", false, "only check the configuration")
	f.String("task-queue", "", "task queue of workflows and activities (default "+config.Default().TaskQueue+")")
	f.String("log-level", "", strings.Join(logging.Levels(), ", ")+" (default "+config.Default().Log.Level+")")
	f.String("log-format", "", strings.Join(logging.Formats(), " or ")+" (default "+config.Default().Log.Format+")")
	f.String("http", "", "`HOST:PORT` of health and metrics, or off (default "+config.Default().HTTP.Listen+")")
	return cmd
}

// given are the flags that were given, for the configuration.
func given(flags *pflag.FlagSet) map[string]string {
	out := map[string]string{}
	flags.Visit(func(f *pflag.Flag) { out[f.Name] = f.Value.String() })
	return out
}

// say reports a good configuration.
func say(out io.Writer, cfg config.Config, notes []string) error {
	for _, n := range notes {
		if _, err := fmt.Fprintln(out, "note:", n); err != nil {
			return err
		}
	}
	names := make([]string, 0, len(cfg.Clusters))
	for _, c := range cfg.Clusters {
		names = append(names, c.Name)
	}
	_, err := fmt.Fprintf(out, "ok: task queue %s, clusters %s\n", cfg.TaskQueue, strings.Join(names, ", "))
	return err
}

// versionText names the build: the version given to the linker, else what the
// Go tool noted.
func versionText() string {
	v := version
	if v == "" {
		v = "dev"
		if info, ok := debug.ReadBuildInfo(); ok {
			for _, s := range info.Settings {
				if s.Key == "vcs.revision" {
					v += "-" + s.Value[:min(len(s.Value), 12)]
				}
			}
		}
	}
	return fmt.Sprintf("%s %s (%s %s/%s)", name, v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
