package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"flinkscaler/core"
	"flinkscaler/core/spec"
	"flinkscaler/internal/config"
)

const discoverLong = `Find the Flink jobs on a Kubernetes or YARN cluster, and print one workflow input for
each, a line each, for flinkscaler start -f. Nothing is started and nothing is changed.

On Kubernetes it looks for FlinkDeployments, FlinkSessionJobs and FlinkClusters in the
namespaces of --namespace, else in those that the configuration gives the cluster, else
in all. Plain Deployments and StatefulSets have no sign of being Flink's: name them by
hand (docs/kubernetes.md). On YARN it looks for live applications of the type "Apache
Flink", and names each by its name, or by a tag where there are others of that name. On
session clusters each running job counts.

Standard error says what else there is to know. A job whose size cannot be changed
safely stands there as a comment, with the reason: its input is good all the same,
and a workflow of it watches and explains. -o json prints all of it as one document.

Exit codes: 0 also when nothing was found; 1 when the cluster does not answer or lets
nothing be listed; 2 when the command line or the configuration is wrong.`

const discoverExample = `  flinkscaler-worker discover --config worker.yaml --cluster prod-eu > jobs.jsonl
  flinkscaler-worker discover --config worker.yaml --cluster prod-eu --namespace shop | flinkscaler start -f -`

// discovery is what the command line asks for.
type discovery struct {
	config, cluster, output string
	namespaces              []string
	out, progress           io.Writer
}

func newDiscover(environ []string) *cobra.Command {
	d := &discovery{}
	cmd := &cobra.Command{
		Use:   "discover --cluster CLUSTER",
		Short: "Print an input for each Flink job on a Kubernetes or YARN cluster; change nothing",
		Long:  discoverLong, Example: discoverExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("unexpected argument %q", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.out, d.progress = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return d.run(cmd.Context(), environ)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&d.config, "config", "c", "", "the worker's configuration `FILE` (or "+config.EnvFile+")")
	f.StringVar(&d.cluster, "cluster", "", "the cluster's name in the configuration")
	f.StringArrayVarP(&d.namespaces, "namespace", "n", nil, "look in this Kubernetes `NAMESPACE` only; repeat for more")
	f.StringVarP(&d.output, "output", "o", outputText, "text for inputs a line each, json for one document with all that was found")
	return cmd
}

func (d *discovery) run(ctx context.Context, environ []string) error {
	switch {
	case d.cluster == "":
		return usageError{errors.New("name the cluster with --cluster")}
	case d.output != outputText && d.output != outputJSON:
		return usageError{fmt.Errorf("unknown output %q; known are text and json", d.output)}
	}
	cfg, notes, err := config.Load(config.Source{File: d.config, Environ: environ})
	if err != nil {
		return err
	}
	for _, n := range notes {
		fmt.Fprintln(d.progress, "note:", n)
	}
	chosen, err := onlyCluster(&cfg, d.cluster)
	if err != nil {
		return err
	}
	switch {
	case chosen.Kubernetes == nil && chosen.Yarn == nil:
		return usageError{fmt.Errorf("cluster %s is no Kubernetes or YARN cluster: its jobs go by their names in Flink", d.cluster)}
	case chosen.Kubernetes == nil && len(d.namespaces) > 0:
		return usageError{fmt.Errorf("cluster %s is a YARN cluster, which has no namespaces", d.cluster)}
	}
	opened, err := openCluster(chosen)
	if err != nil {
		return fmt.Errorf("cluster %s: %w", d.cluster, err)
	}
	defer opened.close()
	found, said, err := d.look(ctx, chosen, opened)
	if err != nil {
		return err
	}
	return d.print(candidates(d.cluster, found), said)
}

// look asks the platform what it shows.
func (d *discovery) look(ctx context.Context, chosen config.Cluster, opened cluster) ([]shown, []note, error) {
	if opened.yarn != nil {
		found, said, err := opened.yarn.Discover(ctx)
		return onYarn(found), yarnNotes(said), err
	}
	namespaces := d.namespaces
	if len(namespaces) == 0 {
		namespaces = chosen.Kubernetes.Namespaces
	}
	found, said, err := opened.kubernetes.Discover(ctx, namespaces)
	return onKubernetes(found), append(kubernetesNotes(said), note{text: notLooked}), err
}

// print shows what was found: inputs on standard output, all else beside it.
func (d *discovery) print(jobs []candidate, said []note) error {
	if d.output == outputJSON {
		return d.document(jobs, said)
	}
	for _, j := range jobs {
		line, err := j.line()
		switch {
		case err != nil:
			return err
		case j.Refused != "":
			fmt.Fprintf(d.progress, "# %s\n# is not scaled: %s\n", line, j.Refused)
			continue
		}
		if _, err := fmt.Fprintf(d.out, "%s\n", line); err != nil {
			return err
		}
	}
	for _, n := range said {
		fmt.Fprintln(d.progress, "note:", n.String())
	}
	fmt.Fprintf(d.progress, "%s\n", summary(jobs))
	return nil
}

func summary(jobs []candidate) string {
	refused := 0
	for _, j := range jobs {
		if j.Refused != "" {
			refused++
		}
	}
	return fmt.Sprintf("%d jobs found, %d of them cannot be scaled.", len(jobs), refused)
}

// document prints all as one JSON object, for programs.
func (d *discovery) document(jobs []candidate, said []note) error {
	notes := make([]map[string]any, 0, len(said))
	for _, n := range said {
		note := map[string]any{"text": n.text}
		if n.target != nil {
			note["target"] = n.target
		}
		notes = append(notes, note)
	}
	if jobs == nil {
		jobs = []candidate{}
	}
	e := json.NewEncoder(d.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"jobs": jobs, "notes": notes})
}

// candidate is a job with the input that a workflow of it would be given.
type candidate struct {
	Input input `json:"input"`
	// Method is how its size would be changed, empty where that cannot be told now.
	Method   string `json:"method,omitempty"`
	Restarts bool   `json:"restarts,omitempty"`
	Refused  string `json:"refused,omitempty"`
}

// input is a workflow's input.
type input struct {
	Cluster string      `json:"cluster"`
	Job     string      `json:"job"`
	Target  core.Target `json:"target"`
}

// candidates gives each job an input. One that the workflow would not take, for a
// name in it, is refused.
func candidates(cluster string, found []shown) []candidate {
	names := jobNames(found)
	var out []candidate
	for i, f := range found {
		c := candidate{Input: input{cluster, names[i], f.target}}
		if f.means != nil {
			c.Method, c.Restarts, c.Refused = f.means.Method, f.means.Restarts, f.means.Refused
		}
		if line, err := c.line(); err == nil && c.Refused == "" {
			if _, problems := spec.Decode([]byte(line)); len(problems) > 0 {
				c.Refused = problems[0].String()
			}
		}
		out = append(out, c)
	}
	return out
}

// line is the input as one line of JSON.
func (c candidate) line() (string, error) {
	b, err := json.Marshal(c.Input)
	return string(b), err
}
