package yarn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"flinkscaler/adapters/flink"
	"flinkscaler/core"
)

// Prepare checks all that a submission needs, and names every problem at once.
func (c *Cluster) Prepare(ctx context.Context, job core.JobRef, vertices []core.SubmittedVertex) (core.Prepared, error) {
	fail := func(err error) (core.Prepared, error) {
		return core.Prepared{}, &core.OpError{Op: "prepare a redeploy", Subject: job.Name, Err: err}
	}
	program, err := c.cfg.Redeploy.program(job.Name)
	if err != nil {
		return fail(fmt.Errorf("%w: %w", core.ErrRefused, err))
	}
	p, err := c.open(ctx, job)
	if err != nil {
		return core.Prepared{}, err
	}
	b, err := json.Marshal(p.target)
	if err != nil {
		return fail(err)
	}
	prepared := core.Prepared{Savepoints: c.cfg.Redeploy.Savepoints, Extras: remember(p, string(b))}
	prepared.ByHand = byHand(p, job.FlinkVersion)
	if p.target.JobName != "" {
		if strings.Contains(program.Jar, "/") {
			return fail(fmt.Errorf("%w: yarn.redeploy.jobs.%s.jar: must be the name of a jar that is uploaded to the session (POST /jars/upload)", core.ErrRefused, job.Name))
		}
		if _, err := p.flink.Prepare(ctx, job, vertices); err != nil {
			return core.Prepared{}, err
		}
		return prepared, nil
	}
	if is, err := p.isSession(ctx); err != nil {
		return core.Prepared{}, err
	} else if is {
		return core.Prepared{}, &core.OpError{Op: "prepare a redeploy", Subject: job.Name, Hint: "name the job with target.yarn.jobName", Err: fmt.Errorf(
			"%w: %s is a session, which would be ended with the job to make way for an application", core.ErrRefused, p.app.ID)}
	}
	problems, err := c.problems(ctx, p, job, program, vertices)
	if err != nil {
		return core.Prepared{}, err
	}
	if len(problems) > 0 {
		return fail(fmt.Errorf("%w: %s", core.ErrRefused, strings.Join(problems, "; ")))
	}
	return prepared, nil
}

// isSession is true for a Flink that goes on without the job.
func (p *place) isSession(ctx context.Context) (bool, error) {
	version, err := p.flink.Version(ctx)
	if err != nil || version.WebSubmit {
		return version.WebSubmit, err
	}
	options, err := p.flink.ClusterOptions(ctx) // a session need not take jobs over REST
	return options["execution.target"] == "yarn-session", err
}

// problems are all reasons why an application could not be submitted. An error is
// that one of them could not be looked at now.
func (c *Cluster) problems(ctx context.Context, p *place, job core.JobRef, program Program, vertices []core.SubmittedVertex) ([]string, error) {
	var out []string
	add := func(err error) {
		if err != nil {
			out = append(out, err.Error())
		}
	}
	home := program.FlinkHome
	if home == "" {
		add(errors.New("flinkHome: is missing"))
	} else {
		if err := executable(filepath.Join(home, "bin", "flink")); err != nil {
			add(fmt.Errorf("%s: %w", filepath.Join(home, "bin", "flink"), err))
		}
		has, err := releaseOf(home)
		add(err)
		if runs, ok := versionOf(job.FlinkVersion); err == nil && ok && runs != has {
			add(fmt.Errorf("flinkHome: is of Flink %s, the job runs on %s", has, runs))
		}
		if err == nil && has.major >= flink.FirstWithoutOverrides {
			add(flink.Covered(texts(program), vertices, "as an application", "yarn.redeploy"))
		}
		if err == nil {
			problem, err := c.loginProblem(ctx, program, has, p.app.User)
			if err != nil {
				return nil, err
			}
			add(problem)
		}
	}
	add(c.hadoopConfig())
	_, err := flink.Expand(program.Args, vertices)
	add(err)
	_, err = expandAll(program.Options, vertices)
	add(err)
	if n := len(foreignTags(p.app.Tags)); n >= mostTags {
		add(fmt.Errorf("the application has %d tags, and YARN takes no more than %d: there is no room for the one by which a submission is found again", n, mostTags))
	}
	if who := c.submitter(); who != "" && p.app.User != "" && who != p.app.User {
		add(fmt.Errorf("the application is of the user %s, and would be submitted as %s", p.app.User, who))
	}
	err = c.jarThere(ctx, program.Jar)
	if errors.Is(err, core.ErrUnreachable) || errors.Is(err, core.ErrNoLeader) || errors.Is(err, core.ErrUnauthorized) {
		return nil, err
	}
	add(err)
	return out, nil
}

// texts are all that can tell a program its sizes.
func texts(p Program) []string {
	out := append([]string{}, p.Args...)
	for _, v := range p.Options {
		out = append(out, v)
	}
	return out
}

// submitter is the user as whom applications are submitted, empty where that is not
// known here.
func (c *Cluster) submitter() string {
	if c.cfg.Login != nil {
		return ""
	}
	if who, ok := c.cfg.Redeploy.Environment["HADOOP_USER_NAME"]; ok {
		return who
	}
	return c.cfg.User
}

// hadoopConfig says what is wrong with the configuration that the command reads.
func (c *Cluster) hadoopConfig() error {
	dir := ""
	for _, v := range c.childEnvironment() {
		for _, name := range []string{"HADOOP_CONF_DIR=", "YARN_CONF_DIR="} {
			if value, ok := strings.CutPrefix(v, name); ok && value != "" {
				dir = value
			}
		}
	}
	if dir == "" {
		return errors.New("hadoopConfig: is missing, and the environment has no HADOOP_CONF_DIR")
	}
	for _, name := range []string{"yarn-site.xml", "core-site.xml"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("hadoopConfig: %s has no %s", dir, name)
		}
	}
	return nil
}

// jarThere looks for the program's jar. That of a storage that this worker does not
// read is taken to be there.
func (c *Cluster) jarThere(ctx context.Context, jar string) error {
	if isRemote(jar) {
		if c.deploys.storage == nil {
			return nil
		}
		return c.deploys.storage.Exists(ctx, jar)
	}
	jar = strings.TrimPrefix(jar, "file://")
	if info, err := os.Stat(jar); err != nil || info.IsDir() {
		return fmt.Errorf("the jar %s is not there", jar)
	}
	return nil
}
