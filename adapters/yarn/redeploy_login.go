package yarn

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"flinkscaler/adapters/kerberos"
)

// Options of Flink by which its command, and the containers that it starts, log in.
const (
	optionKeytab    = "security.kerberos.login.keytab"
	optionPrincipal = "security.kerberos.login.principal"
)

// loginProblem says why the Flink command could not log in to a cluster with Kerberos.
// Whoever finds out when the command runs has stopped the job already.
func (c *Cluster) loginProblem(p Program, has release) error {
	if c.cfg.Login == nil {
		return nil
	}
	env := variables(c.childEnvironment())
	dir := env["FLINK_CONF_DIR"]
	if dir == "" {
		dir = filepath.Join(p.FlinkHome, "conf")
	}
	options, err := configured(dir, has)
	if err != nil {
		return fmt.Errorf("flinkHome: Flink's configuration: %w", err)
	}
	maps.Copy(options, p.Options)
	principal, keytab := options[optionPrincipal], options[optionKeytab]
	switch {
	case principal == "" && keytab == "":
		return noKeytab(env, 2*c.cfg.Redeploy.timeout()) // the way back is a submission, too
	case principal == "" || keytab == "":
		return fmt.Errorf("options: %s and %s must be given together", optionPrincipal, optionKeytab)
	case !filepath.IsAbs(keytab):
		return fmt.Errorf("options.%s: must be an absolute path", optionKeytab)
	}
	err = kerberos.Config{Principal: principal, KeytabFile: keytab, ConfigFile: c.cfg.Login.ConfigFile()}.Validate()
	if err == nil {
		return nil
	}
	return fmt.Errorf("options.security.kerberos.login: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
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
