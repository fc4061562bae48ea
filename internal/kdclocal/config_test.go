package kdclocal

import (
	"strings"
	"testing"
	"time"
)

func TestConfigurationsSayTheSame(t *testing.T) {
	t.Parallel()
	o := Options{TicketLife: 90 * time.Second, RenewableLife: 10 * time.Minute}.withDefaults()
	l := layout{dir: "/d", realm: "A.REALM", port: 1234}
	for name, c := range map[string]struct {
		content string
		want    []string
	}{
		"clients": {content: l.clientConfig(o), want: []string{
			"default_realm = A.REALM\n", "kdc = 127.0.0.1:1234\n", "ticket_lifetime = 90s\n", "renew_lifetime = 600s\n", "localhost = A.REALM\n",
		}},
		"server": {content: l.serverConfig(o, "/modules"), want: []string{
			"kdc_listen = 127.0.0.1:1234\n", "kdc_tcp_listen = 127.0.0.1:1234\n", "max_life = 90s\n", "max_renewable_life = 600s\n",
			"database_name = /d/principal\n", "db_module_dir = /modules\n", "aes256-cts-hmac-sha1-96:normal aes128-cts-hmac-sha1-96:normal\n",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, w := range c.want {
				if !strings.Contains(c.content, w) {
					t.Errorf("no %q in\n%s", w, c.content)
				}
			}
		})
	}
}
