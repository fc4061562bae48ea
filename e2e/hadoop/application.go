package hadoop

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"flinkscaler/e2e/testjob"
	"flinkscaler/internal/child"
	"flinkscaler/internal/flinklocal"
	"flinkscaler/internal/toolcache"
)

// Application says what to run on YARN.
type Application struct {
	// Name is that of the application.
	Name string
	// Tags are those of the application. YARN makes them lower case.
	Tags []string
	// Queue is root.default when empty.
	Queue string
	// Parallelism of the job. Default 1.
	Parallelism int
	// Args of the job's main method. See JobArgs.
	Args []string
	// Savepoint is where the job's state is read from; empty: nowhere.
	Savepoint string
	// Options add entries to Flink's configuration, or replace them.
	Options map[string]string
}

// JobArgs are arguments for the test job: arrivals come from a file, each subtask takes 1000 records a second, and the
// job fails when a record is lost or doubled. More arguments may follow.
func JobArgs(rates *flinklocal.RateFile, more ...string) []string {
	return append([]string{"--rate-file", rates.Path(), "--splits", "24", "--cost-us", "1000", "--exact", "true"}, more...)
}

// Arguments of Flink's command line for an application, as the version wants them.
func (f *Flink) Arguments(a Application) []string {
	verb := "run"
	if !f.version.AtLeast(toolcache.Version{Major: 2}) {
		verb = "run-application"
	}
	args := append([]string{verb, "-t", "yarn-application", "-d"}, f.dynamic(a)...)
	return append(append(args, "-c", testjob.MainClass, f.Jar()), a.Args...)
}

// dynamic are the options of one application, sorted by name.
func (f *Flink) dynamic(a Application) []string {
	options := map[string]string{"yarn.application.name": a.Name}
	if len(a.Tags) > 0 {
		options["yarn.tags"] = strings.Join(a.Tags, ",")
	}
	if a.Queue != "" {
		options["yarn.application.queue"] = a.Queue
	}
	if a.Parallelism > 0 {
		options["parallelism.default"] = strconv.Itoa(a.Parallelism)
	}
	if a.Savepoint != "" {
		options[f.SavepointOption()] = a.Savepoint
	}
	maps.Copy(options, a.Options)
	var args []string
	for _, name := range slices.Sorted(maps.Keys(options)) {
		args = append(args, "-D"+name+"="+options[name])
	}
	return args
}

// SavepointOption is what this version calls the savepoint that a job starts from.
func (f *Flink) SavepointOption() string {
	if f.version.AtLeast(toolcache.Version{Major: 2}) {
		return "execution.state-recovery.path"
	}
	return "execution.savepoint.path"
}

// Submit runs an application and returns when all tasks of its job run. It takes half a minute.
func (f *Flink) Submit(ctx context.Context, a Application) (*App, error) {
	app, err := f.Begin(ctx, a)
	if err != nil {
		return nil, err
	}
	return app, app.WaitRunning(ctx)
}

// Begin runs Flink's command line and returns as soon as YARN has an id for the application. The command then still
// runs; it ends when the application does its work.
func (f *Flink) Begin(ctx context.Context, a Application) (*App, error) {
	return f.begin(ctx, a, f.Command(), f.Arguments(a))
}

// Session runs a session cluster and returns when it takes jobs. Its only job comes with Run.
func (f *Flink) Session(ctx context.Context, a Application) (*App, error) {
	app, err := f.begin(ctx, a, filepath.Join(f.home, "bin", "yarn-session.sh"), append([]string{"-d"}, f.dynamic(a)...))
	if err != nil {
		return nil, err
	}
	return app, app.WaitState(ctx, "RUNNING")
}

// Run submits the test job to a session and returns its id when all of its tasks run.
func (f *Flink) Run(ctx context.Context, session *App, a Application) (jobID string, err error) {
	jar, err := testjob.Jar()
	if err != nil {
		return "", err
	}
	args := append([]string{"run", "-t", "yarn-session", "-d", "-Dyarn.application.id=" + session.ID}, f.dynamic(a)...)
	output, err := runTool(ctx, f.cli(f.Command(), append(append(args, "-c", testjob.MainClass, jar), a.Args...)))
	if err != nil {
		return "", err
	}
	found := regexp.MustCompile(`JobID ([0-9a-f]{32})`).FindStringSubmatch(output)
	if found == nil {
		return "", fmt.Errorf("run a job in %s: no id in %s", session.ID, output)
	}
	return found[1], session.WaitJob(ctx, found[1], "all of its tasks to run", flinklocal.Job.AllRunning)
}

func (f *Flink) cli(command string, args []string) child.Command {
	c := f.cluster
	return child.Command{
		Name: fmt.Sprintf("cli-%d", c.tools.Add(1)), Path: command, Args: args,
		Env: f.Env(), Dir: c.layout.dir, LogDir: c.layout.path(logName),
	}
}

// applicationID is how YARN and Flink write one.
var applicationID = regexp.MustCompile(`application_\d+_\d+`)

func (f *Flink) begin(ctx context.Context, a Application, command string, args []string) (*App, error) {
	cli, err := child.Start(f.cli(command, args))
	if err != nil {
		return nil, fmt.Errorf("submit %s: %w", a.Name, err)
	}
	app := &App{Name: a.Name, CLI: cli, cluster: f.cluster}
	ctx, cancel := context.WithTimeout(ctx, f.cluster.options.WaitTimeout)
	defer cancel()
	err = child.WaitFor(ctx, "an application id", func(context.Context) (string, bool, error) {
		ended := !cli.Alive() // before the look: what it wrote last is seen then
		app.ID = applicationID.FindString(cli.Tail())
		if ended && cli.ExitCode() != 0 {
			return "", false, fmt.Errorf("exit code %d\n%s", cli.ExitCode(), cli.Tail())
		}
		return "none in what the command wrote", app.ID != "", nil
	})
	if err != nil {
		return nil, fmt.Errorf("submit %s: %w", a.Name, errors.Join(err, cli.End()))
	}
	f.cluster.say("%s is %s", a.Name, app.ID)
	return app, nil
}
