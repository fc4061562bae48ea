package kubelet

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"flinkscaler/internal/child"
)

// endpoint is where a JobManager's RPC listens.
type endpoint struct {
	host string
	port int
}

// rpcPort is Flink's default.
const rpcPort = "6123"

// ownEndpoint is that of a JobManager: what its configuration says when that works here, else a free port. The next pod of
// the same cluster gets the same one, so that TaskManagers find it again, as they do by the name of a Service.
func (k *Kubelet) ownEndpoint(pod core.Pod, config map[string]string) (endpoint, error) {
	if given, is := loopbackEndpoint(config); is {
		return given, nil
	}
	cluster := pod.Namespace + "/" + pod.Labels["app"]
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ports[cluster] == 0 {
		ports, err := child.FreePorts(1)
		if err != nil {
			return endpoint{}, err
		}
		k.ports[cluster] = ports[0]
	}
	return endpoint{host: loopback, port: k.ports[cluster]}, nil
}

// findEndpoint is where a TaskManager finds its JobManager. A name is that of a Service, which selects it.
func (k *Kubelet) findEndpoint(ctx context.Context, namespace string, config map[string]string) (endpoint, error) {
	if given, is := loopbackEndpoint(config); is {
		return given, nil
	}
	name, _, _ := strings.Cut(config["jobmanager.rpc.address"], ".")
	if name == "" {
		return endpoint{}, fmt.Errorf("jobmanager.rpc.address is missing")
	}
	service, err := k.client.CoreV1().Services(namespace).Get(ctx, name, meta.GetOptions{})
	if err != nil {
		return endpoint{}, fmt.Errorf("resolve %s: %w", name, err)
	}
	for _, pod := range k.Pods(namespace, service.Spec.Selector) {
		if rpc, known := pod.endpoint(); known {
			return rpc, nil
		}
	}
	return endpoint{}, fmt.Errorf("resolve %s: no JobManager has the labels %v", name, service.Spec.Selector)
}

func loopbackEndpoint(config map[string]string) (endpoint, bool) {
	host := config["jobmanager.rpc.address"]
	if host != loopback && host != "localhost" {
		return endpoint{}, false
	}
	text, there := config["jobmanager.rpc.port"]
	if !there {
		text = rpcPort
	}
	port, err := strconv.Atoi(text)
	return endpoint{host: host, port: port}, err == nil
}
