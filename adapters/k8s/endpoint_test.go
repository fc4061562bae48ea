package k8s

import (
	"testing"

	"k8s.io/client-go/rest"
)

func TestAddresses(t *testing.T) {
	t.Parallel()
	plain := endpoint{namespace: "shop", service: "orders-rest", port: 8081, scheme: "http"}
	secure := plain
	secure.scheme = "https"
	api := &rest.Config{Host: "https://api.example.com:6443/"}
	for name, tt := range map[string]struct {
		reason string
		cfg    Config
		e      endpoint
		want   string
		own    bool // a transport of its own
	}{
		"service":      {"from inside, by the Service's name", Config{REST: api}, plain, "http://orders-rest.shop:8081", false},
		"service, TLS": {"the object's options say so", Config{REST: api, Access: AccessService}, secure, "https://orders-rest.shop:8081", false},
		"proxy":        {"through the API server, with its credentials", Config{REST: api, Access: AccessProxy}, plain, "https://api.example.com:6443/api/v1/namespaces/shop/services/orders-rest:8081/proxy", true},
		"proxy, TLS":   {"the API server has to know", Config{REST: api, Access: AccessProxy}, secure, "https://api.example.com:6443/api/v1/namespaces/shop/services/https:orders-rest:8081/proxy", true},
		"pattern":      {"behind an Ingress", Config{REST: api, URL: "https://flink.example.com/{namespace}/{service}"}, plain, "https://flink.example.com/shop/orders-rest", false},
		"other domain": {"a cluster whose domain is its own", Config{REST: api, URL: "{scheme}://{service}.{namespace}.svc.example:{port}"}, secure, "https://orders-rest.shop.svc.example:8081", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := New(tt.cfg)
			if err != nil {
				t.Fatal(err)
			}
			got, transport, err := c.address(tt.e)
			if err != nil || got != tt.want || (transport != nil) != tt.own {
				t.Errorf("%s: %s, own transport %v, %v; want %s", tt.reason, got, transport != nil, err, tt.want)
			}
		})
	}
}
