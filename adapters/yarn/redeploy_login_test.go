package yarn_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/keytab"

	"flinkscaler/adapters/kerberos"
	"flinkscaler/adapters/yarn"
	"flinkscaler/core"
)

const krb5Conf = "[libdefaults]\n  default_realm = A.REALM\n[realms]\n  A.REALM = {\n    kdc = 127.0.0.1:1\n  }\n"

// secured gives a configuration a login, and returns its keytab. No KDC is asked before
// a server wants a ticket.
func secured(t *testing.T, d *deployment, c *yarn.Config) (keys string) {
	t.Helper()
	keys, conf := filepath.Join(d.dir, "me.keytab"), filepath.Join(d.dir, "krb5.conf")
	k := keytab.New()
	must(t, k.AddEntry("me", "A.REALM", "no password", time.Now(), 1, etypeID.AES256_CTS_HMAC_SHA1_96))
	content, err := k.Marshal()
	must(t, err)
	must(t, os.WriteFile(keys, content, 0o600))
	must(t, os.WriteFile(conf, []byte(krb5Conf), 0o600))
	c.User = ""
	c.Login, err = kerberos.New(kerberos.Config{Principal: "me@A.REALM", KeytabFile: keys, ConfigFile: conf})
	must(t, err)
	t.Cleanup(c.Login.Close)
	return keys
}

// TestTheCommandCanLogIn is looked at before a job is stopped.
func TestTheCommandCanLogIn(t *testing.T) {
	t.Parallel()
	live := core.JobRef{ID: newJob, Name: "orders", FlinkVersion: "2.3.0", Extras: map[string]string{"target": extras()["target"], "application": secondID}}
	for name, tt := range map[string]struct {
		reason string
		// conf is Flink's configuration, options those of the worker's file; KEYTAB is the
		// keytab, MISSING no file.
		conf    string
		options map[string]string
		env     map[string]string
		want    string // in the error; empty: all is well
		// user and refusal are what the login comes to.
		user    string
		refusal error
	}{
		"by option":        {"as it is told in the worker's file", "", map[string]string{"security.kerberos.login.keytab": "KEYTAB", "security.kerberos.login.principal": "me@A.REALM"}, nil, "", "etl", nil},
		"by configuration": {"as it is told in Flink's own", "security:\n  kerberos:\n    login:\n      keytab: KEYTAB\n      principal: me@A.REALM\n", nil, nil, "", "etl", nil},
		"flat":             {"the same in flat keys", "security.kerberos.login.keytab: KEYTAB\nsecurity.kerberos.login.principal: me\n", nil, nil, "", "etl", nil},
		"old Hadoop":       {"the ResourceManager does not tell", "security.kerberos.login.keytab: KEYTAB\nsecurity.kerberos.login.principal: me\n", nil, nil, "", "", nil},
		"another user":     {"it could not read what is of the one before", "security.kerberos.login.keytab: KEYTAB\nsecurity.kerberos.login.principal: me\n", nil, nil, "is of the user etl, and would be submitted as me, who is shop to YARN", "shop", nil},
		"old keys":         {"the KDC has new ones", "security.kerberos.login.keytab: KEYTAB\nsecurity.kerberos.login.principal: me\n", nil, nil, "get a new keytab", "", fmt.Errorf("%w: get a new keytab", core.ErrUnauthorized)},
		"no KDC":           {"the command could not ask it either", "security.kerberos.login.keytab: KEYTAB\nsecurity.kerberos.login.principal: me\n", nil, nil, "", "", core.ErrUnreachable},
		"not at all":       {"it would end when the job is stopped", "jobmanager:\n", nil, map[string]string{"KRB5CCNAME": "FILE:MISSING"}, "the Flink command has no login: give security.kerberos.login.principal and security.kerberos.login.keytab (open ", "etl", nil},
		"one of two":       {"Flink refuses that", "", map[string]string{"security.kerberos.login.principal": "me@A.REALM"}, nil, "must be given together", "etl", nil},
		"not there":        {"it is on another host", "", map[string]string{"security.kerberos.login.keytab": "MISSING", "security.kerberos.login.principal": "me@A.REALM"}, nil, "options.security.kerberos.login: keytabFile: open ", "etl", nil},
		"of another":       {"the KDC would refuse it", "", map[string]string{"security.kerberos.login.keytab": "KEYTAB", "security.kerberos.login.principal": "etl@A.REALM"}, nil, "has no key of etl@A.REALM", "etl", nil},
		"relative":         {"the command runs in a folder of its own", "", map[string]string{"security.kerberos.login.keytab": "me.keytab", "security.kerberos.login.principal": "me@A.REALM"}, nil, "must be an absolute path", "etl", nil},
		"a token file":     {"Hadoop takes it from the environment", "", nil, map[string]string{"HADOOP_TOKEN_FILE_LOCATION": "/run/tokens"}, "", "etl", nil},
		"Hadoop's own":     {"Hadoop takes both from the environment", "", nil, map[string]string{"KRB5PRINCIPAL": "me@A.REALM", "KRB5KEYTAB": "/run/me.keytab"}, "", "etl", nil},
		"broken":           {"Flink could not read it either, and no value shows", "password: [s3cret\n", nil, nil, "config.yaml is not YAML", "etl", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deploying(t, "2.3.0", "exit 0", "${parallelism:slow}")
			d.rm.apps[secondID] = d.second("RUNNING", "UNDEFINED", "")
			cfg := d.cfg
			named := strings.NewReplacer("KEYTAB", secured(t, d, &cfg), "MISSING", filepath.Join(d.dir, "missing"))
			cfg.Redeploy.Options, cfg.Redeploy.Environment = map[string]string{}, map[string]string{}
			for key, value := range tt.options {
				cfg.Redeploy.Options[key] = named.Replace(value)
			}
			for key, value := range tt.env {
				cfg.Redeploy.Environment[key] = named.Replace(value)
			}
			must(t, os.MkdirAll(filepath.Join(cfg.Redeploy.FlinkHome, "conf"), 0o755))
			must(t, os.WriteFile(filepath.Join(cfg.Redeploy.FlinkHome, "conf", "config.yaml"), []byte(named.Replace(tt.conf)), 0o600))
			_, err := open(t, cfg).Impatient(time.Minute).Knows(tt.user, tt.refusal).Prepare(t.Context(), live, grown())
			switch {
			case errors.Is(tt.refusal, core.ErrUnreachable):
				if !errors.Is(err, core.ErrUnreachable) {
					t.Errorf("%s: %v", tt.reason, err)
				}
			case tt.want == "" && err != nil:
				t.Errorf("%s: %v", tt.reason, err)
			case tt.want != "" && (!errors.Is(err, core.ErrRefused) || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("%s: %v, want in it %q", tt.reason, err, tt.want)
			case err != nil && strings.Contains(err.Error(), "s3cret"):
				t.Errorf("%s: %v", tt.reason, err)
			}
		})
	}
}

// TestWhoAsks is what the ResourceManager tells.
func TestWhoAsks(t *testing.T) {
	t.Parallel()
	d := deploying(t, "2.3.0", "exit 0")
	if _, err := d.User(t.Context()); err == nil {
		t.Error("an old one does not know the question, and there was no error")
	}
	for _, body := range []string{`{"clusterUserInfo":{"rmLoginUser":"rm","requestedUser":"etl"}}`, `{"rmLoginUser":"rm","requestedUser":"etl","subClusterId":"sc"}`} {
		d.rm.odd = func(w http.ResponseWriter, r *http.Request) bool {
			is := r.URL.Path == "/ws/v1/cluster/userinfo"
			if is {
				answerText(w, 200, "application/json", body)
			}
			return is
		}
		if who, err := d.User(t.Context()); who != "etl" || err != nil {
			t.Errorf("%s: got %q, %v", body, who, err)
		}
	}
}

// TestTheOldFormOfFlinksConfiguration is read where Flink 1 reads it: first.
func TestTheOldFormOfFlinksConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("a: {b: new}\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "flink-conf.yaml"), []byte("# a.b: no\na.b: old # yes\nc\n"), 0o600))
	for version, want := range map[int]string{1: "old", 2: "new"} {
		got, err := yarn.Configured(dir, version)
		must(t, err)
		if len(got) != 1 || got["a.b"] != want {
			t.Errorf("Flink %d: got %v, want a.b %s", version, got, want)
		}
	}
}

// TestTheCommandReadsKrb5Conf where the worker does: Java does not look at KRB5_CONFIG.
func TestTheCommandReadsKrb5Conf(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason, flags string
		login         bool
		want          string // with CONF for the worker's
	}{
		"with Kerberos": {"at a place of its own", "-Xmx1g", true, "JVM_ARGS=-Xrs -Xmx1g -Djava.security.krb5.conf=CONF"},
		"no flags":      {"ours alone", "", true, "JVM_ARGS=-Xrs -Djava.security.krb5.conf=CONF"},
		"told already":  {"who says it knows it", "-Djava.security.krb5.conf=/x", true, "JVM_ARGS=-Xrs -Djava.security.krb5.conf=/x"},
		"without":       {"nobody asks a KDC", "-Xmx1g", false, "JVM_ARGS=-Xrs -Xmx1g"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deploying(t, "2.3.0", "exit 0", "--slow", "${parallelism:slow}")
			d.as(t.Name())
			cfg := d.cfg
			if tt.login {
				secured(t, d, &cfg)
			}
			cfg.Redeploy.Environment = map[string]string{"JVM_ARGS": tt.flags}
			d.after(t, d.shows(d.second("RUNNING", "UNDEFINED", "")))
			s := submission()
			s.JobID = d.job
			_, err := open(t, cfg).Impatient(time.Minute).Hurry().Submit(t.Context(), s)
			must(t, err)
			want := strings.ReplaceAll(tt.want, "CONF", filepath.Join(d.dir, "krb5.conf"))
			if env := d.wrote(t, "env"); !slices.Contains(env, want) {
				t.Errorf("%s: %v, want %s", tt.reason, env, want)
			}
		})
	}
}
