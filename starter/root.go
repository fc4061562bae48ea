package main

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

const rootLong = `flinkscaler starts, shows and orders the autoscaling of Apache Flink jobs.

Each job is scaled by one Temporal workflow with the id flink/CLUSTER/JOB. The
commands take JOB as cluster/job, such as dev/orders, or as that id.

The Temporal server is found as by the temporal CLI: --address, TEMPORAL_ADDRESS
or the profile (TEMPORAL_PROFILE, TEMPORAL_CONFIG_FILE); likewise TEMPORAL_NAMESPACE,
TEMPORAL_API_KEY and TEMPORAL_TLS_*.

Exit codes: 0 done, 1 failed, 2 bad usage or input.`

const rootExample = `  flinkscaler start --cluster dev --job orders
  flinkscaler list
  flinkscaler watch dev/orders
  flinkscaler pause dev/orders --for 2h --reason "release 1.7"`

const (
	groupManage = "manage"
	groupLook   = "look"
	groupOrder  = "order"
)

// newRoot makes the command tree.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use: "flinkscaler", Short: "Autoscaling of Apache Flink jobs, for operators",
		Long: rootLong, Example: rootExample,
		Version: versionText(), SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(*cobra.Command, []string) error { return a.checkFlags() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(err.Error(), "See "+cmd.CommandPath()+" --help.")
	})
	flags := root.PersistentFlags()
	flags.StringVar(&a.settings.Address, "address", "", "Temporal server, host:port (else TEMPORAL_ADDRESS, the profile, localhost:7233)")
	flags.StringVar(&a.settings.Namespace, "namespace", "", "Temporal namespace (else TEMPORAL_NAMESPACE, the profile, default)")
	flags.StringVar(&a.settings.Profile, "profile", "", "profile in the temporal CLI's configuration file (else TEMPORAL_PROFILE)")
	flags.StringVarP(&a.output, "output", "o", outputTable, "table for people, json for programs")
	a.timeout = defaultTimeout
	flags.Var((*period)(&a.timeout), "timeout", "how long one call may take")
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{outputTable, outputJSON}, cobra.ShellCompDirectiveNoFileComp))
	root.AddGroup(
		&cobra.Group{ID: groupManage, Title: "Start and stop:"},
		&cobra.Group{ID: groupLook, Title: "Look:"},
		&cobra.Group{ID: groupOrder, Title: "Give orders:"},
	)
	root.AddCommand(newStart(a), newStop(a), newList(a), newStatus(a), newExplain(a), newHistory(a), newPolicy(a), newWatch(a), newSlots(a))
	root.AddCommand(newOrders(a)...)
	return root
}

const defaultTimeout = 10 * time.Second

func (a *app) checkFlags() error {
	if a.output != outputTable && a.output != outputJSON {
		return usage(fmt.Sprintf("unknown output %q", a.output), "Known are table and json.")
	}
	return nil
}

// oneJob is the check of a command's arguments where it takes one job.
func oneJob(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return usage(fmt.Sprintf("%s takes one job, got %d arguments", cmd.Name(), len(args)), "Usage: flinkscaler "+cmd.Use)
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usage(fmt.Sprintf("%s takes no arguments, got %s", cmd.Name(), strings.Join(args, " ")), "Usage: flinkscaler "+cmd.Use+"; see flinkscaler "+cmd.Name()+" --help.")
}

// versionText is what the linker was told, else the module's version with the
// commit that it was built from.
func versionText() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	get := func(key string) string {
		i := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == key })
		if i < 0 {
			return ""
		}
		return info.Settings[i].Value
	}
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "development"
	}
	if commit := get("vcs.revision"); commit != "" {
		v += " (commit " + commit[:min(12, len(commit))]
		if get("vcs.modified") == "true" {
			v += ", modified"
		}
		v += ")"
	}
	return v + " " + info.GoVersion
}
