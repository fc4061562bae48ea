package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/keytab"

	"flinkscaler/core/spec"
)

// examples is the folder of the shipped examples.
const examples = "../../examples"

// TestExamples loads every example, so that none rots.
func TestExamples(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(examples)); err != nil {
		t.Fatal(err)
	}
	secrets := filepath.Join(dir, "secrets")
	if err := os.Mkdir(secrets, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(secrets, "flink-ca.pem"), certificate(t))
	put(t, filepath.Join(secrets, "flink-password"), []byte("x\n"))
	put(t, filepath.Join(secrets, "knox-password"), []byte("x\n"))
	put(t, filepath.Join(secrets, "flinkscaler.keytab"), keys(t))
	put(t, filepath.Join(secrets, "krb5.conf"), []byte("[libdefaults]\n  default_realm = EXAMPLE.COM\n[realms]\n  EXAMPLE.COM = {\n    kdc = 127.0.0.1:88\n  }\n"))
	loaded := 0
	for _, file := range glob(t, filepath.Join(dir, "*.yaml")) {
		if _, notes, err := Load(Source{File: file}); err != nil || len(notes) > 0 {
			t.Errorf("%s: %v, notes %q", filepath.Base(file), err, notes)
		}
		loaded++
	}
	for _, file := range glob(t, filepath.Join(dir, "*.json")) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, problems := spec.Decode(b); len(problems) > 0 {
			t.Errorf("%s: %v", filepath.Base(file), problems)
		}
		loaded++
	}
	if loaded < 3 {
		t.Errorf("loaded %d examples, want at least 3", loaded)
	}
	t.Run("worker-full.yaml shows the defaults", func(t *testing.T) {
		got, _, err := Load(Source{File: filepath.Join(dir, "worker-full.yaml")})
		if err != nil {
			t.Fatal(err)
		}
		want := Default()
		want.Clusters = got.Clusters
		// What the connection falls back to when nobody says anything.
		want.Temporal = Temporal{Address: "127.0.0.1:7233", Namespace: "default"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("configuration (-default +example):\n%s", diff)
		}
		f := got.Clusters[0].Flink
		if f.PasswordFile != filepath.Join(secrets, "flink-password") {
			t.Errorf("passwordFile is %s, want it in the folder of the configuration", f.PasswordFile)
		}
	})
	t.Run("worker-full.yaml names every setting", func(t *testing.T) {
		b, err := os.ReadFile(filepath.Join(examples, "worker-full.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		keys := []string{"url", "urls", "timeout", "caFile", "certFile", "keyFile", "serverName", "username", "usernameFile", "passwordFile", "tokenFile", "maxRequests", "redeploy", "savepoints", "keepSavepoints", "jobs", "jar", "entryClass", "args", "parallelism", "policy", "share", "slots", "rescales", "lease"}
		for _, s := range settings() {
			keys = append(keys, s.path[strings.LastIndex(s.path, ".")+1:])
		}
		for _, k := range keys {
			if !strings.Contains(string(b), k) {
				t.Errorf("%s is not shown", k)
			}
		}
	})
}

// TestTheExampleForYarnNamesEverySetting: also those that stand there as comments.
func TestTheExampleForYarnNamesEverySetting(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join(examples, "worker-yarn.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(b), "\n      redeploy:")
	redeploy, _, _ := strings.Cut(after, "\n\n")
	for _, k := range []string{"savepoints", "keepSavepoints", "stagingDirectory", "flinkHome", "hadoopConfig", "environment", "timeout", "options", "jobs", "jar", "entryClass", "args", "parallelism"} {
		if !strings.Contains(redeploy, " "+k+": ") && !strings.Contains(redeploy, " "+k+":\n") {
			t.Errorf("redeploy.%s is not shown", k)
		}
	}
	for _, k := range []string{
		"resourceManagers", "user", "username", "usernameFile", "passwordFile", "caFile", "certFile", "keyFile", "serverName", "timeout", "proxy", "autoscaledNodes", "flink", "tls", "maxRequests", "tokenFile",
		"configDirectory", "nameservices", "protection", "servicePrincipal", "datanodeHostnames", "principal", "keytabFile", "configFile",
	} {
		if !strings.Contains(string(b), k) {
			t.Errorf("%s is not shown", k)
		}
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func put(t *testing.T, file string, b []byte) {
	t.Helper()
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// keys makes a keytab.
func keys(t *testing.T) []byte {
	t.Helper()
	k := keytab.New()
	if err := k.AddEntry("flinkscaler", "EXAMPLE.COM", "x", time.Now(), 1, etypeID.AES256_CTS_HMAC_SHA1_96); err != nil {
		t.Fatal(err)
	}
	b, err := k.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// certificate makes one that signs itself.
func certificate(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
