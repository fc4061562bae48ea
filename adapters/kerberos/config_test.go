package kerberos

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/keytab"
)

const secret = "geheim-und-lang"

// files writes a keytab with a key of me@A.REALM and a krb5.conf.
func files(t *testing.T, krb5conf string) (keys, conf string) {
	t.Helper()
	dir := t.TempDir()
	keys, conf = filepath.Join(dir, "keytab"), filepath.Join(dir, "krb5.conf")
	k := keytab.New()
	if err := k.AddEntry("me", "A.REALM", secret, time.Now(), 1, etypeID.AES256_CTS_HMAC_SHA1_96); err != nil {
		t.Fatal(err)
	}
	content, err := k.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string][]byte{keys: content, conf: []byte(krb5conf)} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return keys, conf
}

const goodConf = "[libdefaults]\n  default_realm = A.REALM\n[realms]\n  A.REALM = {\n    kdc = 127.0.0.1:1\n  }\n"

func TestValidateListsAllProblems(t *testing.T) {
	t.Parallel()
	keys, conf := files(t, goodConf)
	_, empty := files(t, "[libdefaults]\n")
	_, dns := files(t, "[libdefaults]\n  dns_lookup_kdc = true\n")
	_, broken := files(t, "[libdefaults]\n  ticket_lifetime = soon\n")
	short := filepath.Join(t.TempDir(), "short")
	if err := os.WriteFile(short, []byte("\x05\x02\x00\x00\x00\x40\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(t.TempDir(), "missing")
	for name, c := range map[string]struct {
		reason string
		config Config
		want   []string // none: it is good
	}{
		"good":          {"all is there", Config{Principal: "me@A.REALM", KeytabFile: keys, ConfigFile: conf}, nil},
		"default realm": {"krb5.conf says which", Config{Principal: "me", KeytabFile: keys, ConfigFile: conf}, nil},
		"by DNS":        {"the KDCs are found there", Config{Principal: "me@A.REALM", KeytabFile: keys, ConfigFile: dns}, nil},
		"nothing":       {"each file and the name are told at once", Config{ConfigFile: missing, Timeout: -1}, []string{"principal: must be given", "configFile: ", "keytabFile: must be given", "timeout: must not be negative"}},
		"two realms":    {"no such name", Config{Principal: "me@A@B", KeytabFile: keys, ConfigFile: conf}, []string{`must be NAME@REALM or NAME/HOST@REALM, got "me@A@B"`}},
		"space":         {"no such name", Config{Principal: "me @A.REALM", KeytabFile: keys, ConfigFile: conf}, []string{"principal: must be"}},
		"_HOST":         {"Hadoop's placeholder", Config{Principal: "me/_HOST@A.REALM", KeytabFile: keys, ConfigFile: conf}, []string{"in place of _HOST"}},
		"other realm":   {"no KDC and no key", Config{Principal: "me@B.REALM", KeytabFile: keys, ConfigFile: conf}, []string{"names no kdc of realm B.REALM", "has no key of me@B.REALM"}},
		"no realm":      {"nobody says which", Config{Principal: "me", KeytabFile: keys, ConfigFile: empty}, []string{"has no realm, and krb5.conf has no default_realm"}},
		"other name":    {"the keytab is somebody else's", Config{Principal: "you@A.REALM", KeytabFile: keys, ConfigFile: conf}, []string{"has no key of you@A.REALM"}},
		"no keytab":     {"a text file", Config{Principal: "me@A.REALM", KeytabFile: conf, ConfigFile: conf}, []string{"is not a keytab"}},
		"cut keytab":    {"half of it", Config{Principal: "me@A.REALM", KeytabFile: short, ConfigFile: conf}, []string{"is not a keytab"}},
		"gone keytab":   {"not there", Config{Principal: "me@A.REALM", KeytabFile: missing, ConfigFile: conf}, []string{"keytabFile: open " + missing}},
		"broken conf":   {"a value that is none", Config{Principal: "me@A.REALM", KeytabFile: keys, ConfigFile: broken}, []string{"configFile: read " + broken}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.config.Validate()
			if len(c.want) == 0 {
				if err != nil {
					t.Errorf("%s: %v", c.reason, err)
				}
				return
			}
			if err == nil {
				t.Fatalf("%s: no problem found", c.reason)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%s: no %q in: %v", c.reason, w, err)
				}
			}
			if got := len(strings.Split(err.Error(), "\n")); got != len(c.want) {
				t.Errorf("%s: %d problems, want %d: %v", c.reason, got, len(c.want), err)
			}
		})
	}
}

func TestConfigFile(t *testing.T) {
	t.Setenv("KRB5_CONFIG", "/from/environment")
	if got := (Config{ConfigFile: "/a"}).configFile(); got != "/a" {
		t.Errorf("named: got %s", got)
	}
	if got := (Config{}).configFile(); got != "/from/environment" {
		t.Errorf("from the environment: got %s", got)
	}
	t.Setenv("KRB5_CONFIG", "")
	if got := (Config{}).configFile(); got != DefaultConfigFile {
		t.Errorf("by default: got %s", got)
	}
}
