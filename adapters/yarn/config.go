package yarn

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"flinkscaler/adapters/flink"
	"flinkscaler/adapters/kerberos"
)

// What is used where a Config says nothing.
const (
	DefaultTimeout = 10 * time.Second
	// DefaultMaxBodyBytes holds the list of some ten thousand applications.
	DefaultMaxBodyBytes = 64 << 20
)

// Config says how to reach one YARN cluster.
type Config struct {
	// ResourceManagers are the web addresses of all of them, such as
	// "http://rm1:8088"; the active one is found. The address of a gateway (Knox)
	// ends with the path of its service, such as
	// "https://knox:8443/gateway/default/resourcemanager".
	ResourceManagers []string
	// Timeout bounds one request to one ResourceManager, 0: DefaultTimeout.
	Timeout time.Duration
	// MaxBodyBytes bounds an answer, 0: DefaultMaxBodyBytes.
	MaxBodyBytes int64
	// User acts, where the cluster is without Kerberos (user.name); empty: nobody is
	// named.
	User string
	// Username or UsernameFile, with PasswordFile: HTTP basic authentication, as a
	// gateway wants it. The files are read for each request.
	Username     string
	UsernameFile string
	PasswordFile string
	// Login is who logs in by Kerberos (SPNEGO), nil without.
	Login *kerberos.Login
	// CAFile, CertFile, KeyFile and ServerName are as in flink.Config, for the
	// ResourceManagers.
	CAFile     string
	CertFile   string
	KeyFile    string
	ServerName string
	// NoProxy switches the way through the ResourceManager's web proxy off, by which
	// a job can be read and changed in place where its own address is not reached.
	NoProxy bool
	// AutoscaledNodes is true where nodes are added when containers wait, as the managed
	// scaling of cloud providers does. What is free now, and shares of what there is,
	// then bound no change in place; YARN itself does not tell.
	AutoscaledNodes bool
	// Flink is how the Flink REST APIs are reached. Its URLs come from the
	// applications and must be empty.
	Flink flink.Config
	// FlinkTLS is true where those are served over https.
	FlinkTLS bool
	// Redeploy says how jobs are stopped and submitted again.
	Redeploy Redeploy
	// Dial opens connections to ResourceManagers and applications, nil: the ordinary
	// way.
	Dial flink.Dial
}

// Redeploy says how jobs are stopped with a savepoint and submitted again, where
// their scheduler cannot change them in place. The zero value: not at all.
type Redeploy struct {
	// Savepoints is the directory that each stop gets a directory of its own in,
	// such as "hdfs://ns/flink/savepoints". The jobs write there, the worker reads.
	Savepoints string
	// StagingDirectory is where the Flink command puts what an application needs, in a
	// folder of its own for each submission; empty: "flinkscaler-staging" beside
	// Savepoints. What is left there by submissions that are over is removed.
	StagingDirectory string
	// FlinkHome holds bin/flink, of the jobs' version of Flink.
	FlinkHome string
	// HadoopConfig is HADOOP_CONF_DIR of that command; empty: as in the environment
	// of the worker. Environment is set besides.
	HadoopConfig string
	Environment  map[string]string
	// Timeout bounds one submission until YARN shows the application running, 0:
	// DefaultSubmitTimeout.
	Timeout time.Duration
	// Options are Flink options of every submission.
	Options map[string]string
	// Jobs are programs by the names of their jobs in Flink.
	Jobs map[string]Program
}

// DefaultSubmitTimeout is enough to upload Flink itself to a busy cluster.
const DefaultSubmitTimeout = 5 * time.Minute

// Program is how one job is submitted.
type Program struct {
	// Jar is its URL, such as "hdfs://ns/jobs/orders.jar", or a path on the worker.
	// In a session cluster it is the name of an uploaded jar, or its id.
	Jar string
	// EntryClass is the main class, empty for the one of the jar's manifest.
	EntryClass string
	// Args of the main method, as in flink.Program.
	Args []string
	// Parallelism is the job's default, 0 for that of Options or of Flink.
	Parallelism int
	// Options are Flink options of this job, over those of Redeploy. They take the
	// placeholders that Args take.
	Options map[string]string
	// FlinkHome is that of Redeploy where it is empty.
	FlinkHome string
}

// Validate lists all problems of the configuration. None holds a value that could
// be a secret.
func (c Config) Validate() error {
	var problems []error
	add := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if len(c.ResourceManagers) == 0 {
		add("resourceManagers: must name at least one address, such as http://rm1:8088")
	}
	secure, seen := false, map[string]bool{}
	for i, s := range c.ResourceManagers {
		if problem := addressProblem(s); problem != "" {
			add("resourceManagers[%d]: %s", i, problem)
			continue
		}
		if seen[strings.TrimRight(s, "/")] {
			add("resourceManagers[%d]: is there twice", i)
		}
		seen[strings.TrimRight(s, "/")] = true
		secure = secure || strings.HasPrefix(s, "https://")
	}
	if c.Timeout < 0 {
		add("timeout: must not be negative, got %s", c.Timeout)
	}
	if c.MaxBodyBytes < 0 {
		add("maxBodyBytes: must not be negative, got %d", c.MaxBodyBytes)
	}
	if !secure && len(seen) > 0 && (c.CAFile != "" || c.CertFile != "" || c.KeyFile != "" || c.ServerName != "") {
		add("caFile, certFile, keyFile, serverName: are of no use without an https address in resourceManagers")
	}
	named := c.Username != "" || c.UsernameFile != "" || c.PasswordFile != ""
	switch {
	case c.Login != nil && (named || c.User != ""):
		add("user, username, usernameFile, passwordFile: cannot be used beside kerberos")
	case named && c.User != "":
		add("user: cannot be used beside a user name and password")
	}
	problems = append(problems, c.clientProblems()...)
	return errors.Join(append(problems, c.flinkProblems()...)...)
}

// placeholder stands for the addresses where those of a client are not what is
// checked.
const placeholder = "https://placeholder"

// clientProblems checks files and credentials for the ResourceManagers.
func (c Config) clientProblems() []error {
	return parts(flink.Config{
		URLs: []string{placeholder}, CAFile: c.CAFile, CertFile: c.CertFile, KeyFile: c.KeyFile, ServerName: c.ServerName,
		Username: c.Username, UsernameFile: c.UsernameFile, PasswordFile: c.PasswordFile,
	}.Validate())
}

// flinkProblems checks how the applications are reached.
func (c Config) flinkProblems() []error {
	var out []error
	add := func(format string, args ...any) { out = append(out, fmt.Errorf(format, args...)) }
	f := c.Flink
	if len(f.URLs) > 0 {
		add("flink.url: must be left out: the addresses come from the applications")
	}
	if !c.FlinkTLS && (f.CAFile != "" || f.CertFile != "" || f.KeyFile != "" || f.ServerName != "") {
		add("flink.tls: must be true for caFile, certFile, keyFile and serverName to be of use")
	}
	f.URLs = []string{placeholder}
	for _, p := range parts(f.Validate()) {
		add("flink.%w", p)
	}
	return out
}

// parts takes a joined error apart.
func parts(err error) []error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		return all.Unwrap()
	}
	return nil
}

// addressProblem never repeats the address: it may hold a password.
func addressProblem(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "is not a URL"
	case u.User != nil:
		return "must not hold a user or password; use username and passwordFile"
	case u.Scheme != "http" && u.Scheme != "https":
		return "must begin with http:// or https://"
	case u.Host == "":
		return "has no host"
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return "must not hold a query or fragment"
	case strings.Contains(u.Path, "/ws/"), strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/v1"):
		return "must be the address without the path of the API"
	}
	return ""
}
