package kubelocal

import (
	"context"
	"fmt"

	authentication "k8s.io/api/authentication/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// As is how to reach the API server as any user, member of the given groups. What is allowed, what is recorded and what
// admission sees are the user's; a kubeconfig can hold it too.
func (p *Plane) As(user string, groups ...string) *rest.Config {
	config := p.Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	return config
}

// ServiceAccount makes an account, unless it is there, and is how to reach the API server with a token of it. The token
// is good for an hour.
func (p *Plane) ServiceAccount(ctx context.Context, namespace, name string) (*rest.Config, error) {
	accounts := p.clients.typed.CoreV1().ServiceAccounts(namespace)
	account := &core.ServiceAccount{ObjectMeta: meta.ObjectMeta{Name: name}}
	if _, err := accounts.Create(ctx, account, meta.CreateOptions{}); err != nil && !errors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("make service account %s/%s: %w", namespace, name, err)
	}
	answer, err := accounts.CreateToken(ctx, name, &authentication.TokenRequest{}, meta.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("make a token of service account %s/%s: %w", namespace, name, err)
	}
	config := p.Config()
	config.BearerToken = answer.Status.Token
	return config, nil
}

// WriteKubeconfig writes a configuration with a token as a kubeconfig file, for programs that read one. Its only context
// is called "local".
func WriteKubeconfig(path string, config *rest.Config) error {
	const name = "local"
	file := api.NewConfig()
	file.Clusters[name] = &api.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	file.AuthInfos[name] = &api.AuthInfo{
		Token:       config.BearerToken,
		Impersonate: config.Impersonate.UserName, ImpersonateGroups: config.Impersonate.Groups,
	}
	file.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	file.CurrentContext = name
	if err := clientcmd.WriteToFile(*file, path); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return nil
}
