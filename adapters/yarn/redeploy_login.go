package yarn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"flinkscaler/adapters/kerberos"
	"flinkscaler/core"
)

// Options of Flink by which its command, and the containers that it starts, log in.
const (
	optionKeytab    = "security.kerberos.login.keytab"
	optionPrincipal = "security.kerberos.login.principal"
)

// loginProblem says why the Flink command could not log in to a cluster with Kerberos,
// or would submit as another user than the one whose application runs. Whoever finds
// out when the command runs has stopped the job already. An error is that it could not
// be looked at now.
func (c *Cluster) loginProblem(ctx context.Context, p Program, has release, owner string) (problem, err error) {
	if c.cfg.Login == nil {
		return nil, nil
	}
	env := variables(c.childEnvironment())
	dir := env["FLINK_CONF_DIR"]
	if dir == "" {
		dir = filepath.Join(p.FlinkHome, "conf")
	}
	options, err := configured(dir, has)
	if err != nil {
		return fmt.Errorf("flinkHome: Flink's configuration: %w", err), nil
	}
	maps.Copy(options, p.Options)
	principal, keytab := options[optionPrincipal], options[optionKeytab]
	switch {
	case principal == "" && keytab == "":
		return noKeytab(env, 2*c.cfg.Redeploy.timeout()), nil // the way back is a submission, too
	case principal == "" || keytab == "":
		return fmt.Errorf("options: %s and %s must be given together", optionPrincipal, optionKeytab), nil
	case !filepath.IsAbs(keytab):
		return fmt.Errorf("options.%s: must be an absolute path", optionKeytab), nil
	}
	who, err := c.whoIs(ctx, kerberos.Config{Principal: principal, KeytabFile: keytab, ConfigFile: c.cfg.Login.ConfigFile()})
	switch {
	case errors.Is(err, core.ErrUnreachable):
		return nil, err
	case err != nil:
		return fmt.Errorf("options.security.kerberos.login: %s", strings.ReplaceAll(err.Error(), "\n", "; ")), nil
	case who != "" && owner != "" && who != owner:
		return fmt.Errorf("the application is of the user %s, and would be submitted as %s, who is %s to YARN", owner, principal, who), nil
	}
	return nil, nil
}

// whoIs logs in, and gives the name that the ResourceManager has for who does; empty
// where it does not tell.
func (c *Cluster) whoIs(ctx context.Context, as kerberos.Config) (string, error) {
	login, err := kerberos.New(as)
	if err != nil {
		return "", err
	}
	defer login.Close()
	if c.deploys.whoIs != nil {
		return c.deploys.whoIs(ctx, login)
	}
	if _, err := login.Client(ctx); err != nil {
		return "", err
	}
	cfg := c.cfg
	cfg.Login, cfg.Redeploy = login, Redeploy{}
	asked, err := New(cfg)
	if err != nil {
		return "", err
	}
	defer asked.Close()
	user, _ := asked.user(ctx) // old ones do not know the question
	return user, nil
}

// user is the name that the ResourceManager has for who asks it. Releases differ in
// whether the answer stands in an object of its own.
func (c *Cluster) user(ctx context.Context) (string, error) {
	type info struct {
		User string `json:"requestedUser"`
	}
	return fetch(ctx, c, request{op: "read the user", path: "/userinfo"}, func(b []byte) (string, error) {
		body, err := fromJSON[struct {
			info
			Inner info `json:"clusterUserInfo"`
		}](b)
		return cmp.Or(body.Inner.User, body.User), err
	})
}

// noKeytab says what is wrong with the other ways to log in: what Hadoop takes from the
// environment, and a ticket cache, whose login has to last.
func noKeytab(env map[string]string, lasts time.Duration) error {
	if env["HADOOP_TOKEN_FILE_LOCATION"] != "" || env["KRB5PRINCIPAL"] != "" && env["KRB5KEYTAB"] != "" {
		return nil
	}
	file := strings.TrimPrefix(env["KRB5CCNAME"], "FILE:")
	if file == "" {
		file = "/tmp/krb5cc_" + strconv.Itoa(os.Getuid())
	}
	err := kerberos.CheckCache(file, time.Now().Add(lasts))
	if err == nil {
		return nil
	}
	return fmt.Errorf("options: the Flink command has no login: give %s and %s (%w)", optionPrincipal, optionKeytab, err)
}

// krb5Flag is added to the flags of a JVM where krb5.conf is not at its usual place:
// Java does not look at KRB5_CONFIG.
func (c *Cluster) krb5Flag(flags string) string {
	const property = "-Djava.security.krb5.conf="
	if c.cfg.Login == nil || strings.Contains(flags, property) {
		return flags
	}
	file, err := filepath.Abs(c.cfg.Login.ConfigFile())
	if err != nil || file == kerberos.DefaultConfigFile || strings.ContainsAny(file, " \t") { // flags are cut at spaces
		return flags
	}
	return strings.TrimSpace(flags + " " + property + file)
}

// variables are an environment by name.
func variables(env []string) map[string]string {
	out := make(map[string]string, len(env))
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		out[name] = value
	}
	return out
}
