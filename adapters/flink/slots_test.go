package flink

import "testing"

func TestHostOfAnActor(t *testing.T) {
	t.Parallel()
	for path, c := range map[string]struct{ reason, want string }{
		"pekko.tcp://flink@10.0.0.7:6122/user/rpc/taskmanager_0":        {"since 1.18", "10.0.0.7"},
		"akka.tcp://flink@tm-0.shop.svc:6122/user/rpc/taskmanager_0":    {"before, by name", "tm-0.shop.svc"},
		"pekko.ssl.tcp://flink@[2001:db8::7]:6122/user/rpc/taskmanager": {"IPv6, TLS", "2001:db8::7"},
		"localhost": {"no address", ""},
		"://":       {"nonsense", ""},
		"":          {"nothing", ""},
	} {
		if got := hostOf(path); got != c.want {
			t.Errorf("%s: %q gives %q, want %q", c.reason, path, got, c.want)
		}
	}
}
