package kubelocal

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// loopback is the only address that anything here listens on.
const loopback = "127.0.0.1"

// keyBits is the smallest size of a key that the API server takes for signing tokens.
const keyBits = 2048

// layout is where one plane keeps its files, its ports, and its administrator's token.
type layout struct {
	dir                              string
	etcd, etcdPeer, api, controllers int
	token                            string
}

func newToken() string { return rand.Text() }

func (l layout) path(name string) string { return filepath.Join(l.dir, name) }

func (l layout) apiURL() string { return "https://" + address(l.api) }

// apiCertificate is made by the API server itself when it starts.
func (l layout) apiCertificate() string { return filepath.Join(l.path("api"), "apiserver.crt") }

func address(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

// endpoint is where a program says that it is ready, and the certificate to check it with.
type endpoint struct{ url, certificate string }

func (l layout) apiHealth() endpoint {
	return endpoint{url: l.apiURL() + "/readyz", certificate: l.apiCertificate()}
}

func (l layout) controllerHealth() endpoint {
	return endpoint{
		url:         "https://" + address(l.controllers) + "/healthz",
		certificate: filepath.Join(l.path("controllers"), "kube-controller-manager.crt"),
	}
}

// writeFiles writes what the programs read at their start: who the administrator is, and a key to sign the tokens of
// service accounts with.
func (l layout) writeFiles() error {
	users := fmt.Sprintf("%s,admin,admin,\"system:masters\"\n", l.token)
	if err := os.WriteFile(l.path("users.csv"), []byte(users), 0o600); err != nil {
		return err
	}
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return err
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	return os.WriteFile(l.path("accounts.key"), block, 0o600)
}

func (l layout) etcdArguments() []string {
	client, peer := "http://"+address(l.etcd), "http://"+address(l.etcdPeer)
	return []string{
		"--data-dir=" + l.path("etcd"),
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer,
		"--unsafe-no-fsync", // a crash of the machine ends the test anyway
		"--log-level=warn",
	}
}

func (l layout) apiServerArguments() []string {
	return []string{
		"--etcd-servers=http://" + address(l.etcd),
		"--bind-address=" + loopback, "--advertise-address=" + loopback, "--secure-port=" + strconv.Itoa(l.api),
		"--cert-dir=" + l.path("api"),
		"--endpoint-reconciler-type=none", // it would publish the loopback address, which is not allowed
		"--service-cluster-ip-range=10.0.0.0/16",
		"--authorization-mode=RBAC", "--token-auth-file=" + l.path("users.csv"), "--allow-privileged=true",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + l.path("accounts.key"), "--service-account-signing-key-file=" + l.path("accounts.key"),
		"--disable-admission-plugins=ServiceAccount", // pods need no account that somebody has to make first
	}
}

func (l layout) controllerManagerArguments(o Options) []string {
	config := l.path("kubeconfig")
	return []string{
		"--kubeconfig=" + config, "--authentication-kubeconfig=" + config, "--authorization-kubeconfig=" + config,
		"--leader-elect=false",
		"--bind-address=" + loopback, "--secure-port=" + strconv.Itoa(l.controllers), "--cert-dir=" + l.path("controllers"),
		"--service-account-private-key-file=" + l.path("accounts.key"),
		"--controllers=" + strings.Join(o.Controllers, ","),
		"--horizontal-pod-autoscaler-sync-period=1s", "--resource-quota-sync-period=5s",
	}
}
