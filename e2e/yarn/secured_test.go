//go:build e2e

package yarn_test

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"flinkscaler/adapters/kerberos"
	"flinkscaler/core"
	"flinkscaler/e2e/hadoop"
	"flinkscaler/e2e/managed"
	"flinkscaler/internal/kdclocal"
	"flinkscaler/internal/toolcache"
	"flinkscaler/workflows"
)

const (
	// owner is who runs the job, manager the worker that manages it: the same user to
	// Hadoop, which takes the first part of a name. admin is HDFS's superuser.
	owner   = "flinkscaler"
	manager = "flinkscaler/worker1"
	admin   = "nn/localhost"
	// ticketLife is so short that the worker has to log in again and again.
	ticketLife = 20 * time.Second
)

// realm is a KDC with the keytabs of owner and manager.
type realm struct {
	*kdclocal.KDC
	ownerKeys, managerKeys string
}

func startRealm(t *testing.T) realm {
	t.Helper()
	k, err := kdclocal.Start(t.Context(), kdclocal.Options{Log: t.Output()})
	must(t, err)
	t.Cleanup(func() { must(t, k.Close()) })
	r := realm{KDC: k, ownerKeys: filepath.Join(k.Dir(), "owner.keytab"), managerKeys: filepath.Join(k.Dir(), "manager.keytab")}
	must(t, k.Keytab(t.Context(), r.ownerKeys, owner))
	must(t, k.Keytab(t.Context(), r.managerKeys, manager))
	must(t, k.Limit(t.Context(), manager, ticketLife, 2*ticketLife))
	return r
}

// logins is how often the worker got a ticket, by its keytab or by renewing one.
func (r realm) logins() int {
	return r.Process().Count(manager + "@" + r.Realm() + " for krbtgt/" + r.Realm() + "@" + r.Realm())
}

// start runs a Hadoop in which everybody has to log in, and the rights of files count.
func (r realm) start(t *testing.T) *hadoop.Cluster {
	t.Helper()
	login, err := kerberos.New(kerberos.Config{Principal: owner, KeytabFile: r.ownerKeys, ConfigFile: r.Config()})
	must(t, err)
	t.Cleanup(login.Close)
	security, err := hadoop.Secure(t.Context(), hadoop.SecureOptions{KDC: r.KDC, Tools: admin, HTTP: &http.Client{Transport: login.Transport(nil)}})
	must(t, err)
	began := time.Now()
	c, err := hadoop.Start(t.Context(), hadoop.Options{
		YARN: true, Security: security, Log: t.Output(), WaitTimeout: patience,
		HDFS: map[string]string{"dfs.permissions.enabled": "true"},
		// Nothing is lost here on purpose, and on a busy machine much is late.
		YARNSite: map[string]string{"yarn.am.liveness-monitor.expiry-interval-ms": "300000", "yarn.nm.liveness-monitor.expiry-interval-ms": "300000"},
	})
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	t.Attr("boot", time.Since(began).Round(100*time.Millisecond).String())
	for _, args := range [][]string{
		{"-mkdir", "-p", "/savepoints/secured", "/checkpoints", "/user/" + owner},
		{"-chown", "-R", owner, "/savepoints", "/checkpoints", "/user/" + owner},
	} {
		_, err := c.FS(t.Context(), args...)
		must(t, err)
	}
	return c
}

// TestTheWholeProductSecured: on a Hadoop with Kerberos the load of a job rises, and it
// is stopped, and submitted by Flink's command with a keytab, and goes on from its
// savepoint at the new size. The worker's own ticket ends several times meanwhile.
func TestTheWholeProductSecured(t *testing.T) {
	r := startRealm(t)
	c := r.start(t)
	j := startRedeployed(t, c, redeployedJob{
		name: "secured", version: toolcache.Flink1, rate: little, times: within{"5 min", "4 min"}, policy: quick("2"),
		options: map[string]string{
			"security.kerberos.login.principal": owner + "@" + r.Realm(), "security.kerberos.login.keytab": r.ownerKeys,
			"security.kerberos.krb5-conf.path": r.Config(), // what containers read: it is not at its usual place on their host
		},
		kerberos: map[string]any{"principal": manager + "@" + r.Realm(), "keytabFile": r.managerKeys, "configFile": r.Config()},
	})
	nobodyElse(t, c)
	var who json.RawMessage
	must(t, c.REST(t.Context(), "/userinfo", &who))
	if !strings.Contains(string(who), `"requestedUser":"`+owner+`"`) { // by this the command's login is judged
		t.Errorf("the ResourceManager takes us for %s, want %s", who, owner)
	}
	j.await(j.key, "a quiet start", func(s workflows.Status) bool { return managed.Settled(s) && managed.Size(s, "slow") == 1 })
	before := r.logins()

	must(t, j.rates.Set(much))
	began := time.Now()
	o := j.reaches(t, 2)
	t.Attr("from_load_to_running", time.Since(began).Round(100*time.Millisecond).String())
	if o.Cause == core.ReasonOverride || !strings.HasPrefix(o.Redeploy.Savepoint, c.DefaultFS()+"/savepoints/secured/") {
		t.Errorf("outcome %+v, %+v", o, o.Redeploy)
	}
	all, err := j.listed(t.Context())
	must(t, err)
	for _, a := range all {
		if a.User != owner {
			t.Errorf("%s is of %s, want %s", a.ID, a.User, owner)
		}
	}
	if r.logins() == before {
		t.Errorf("the worker did not log in during the redeploy, and its tickets live for %s", ticketLife)
	}
	t.Attr("logins_of_the_worker", strconv.Itoa(r.logins()))
}

// nobodyElse: whoever does not log in sees nothing, and so what was done before was done
// by Kerberos.
func nobodyElse(t *testing.T, c *hadoop.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, url := range []string{c.ResourceManager().URL() + "/ws/v1/cluster/apps?user.name=" + owner, c.NameNode().WebURL() + "/jmx"} {
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		must(t, err)
		answer, err := http.DefaultClient.Do(q)
		must(t, err)
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s answers %s to nobody", url, answer.Status)
		}
	}
}
