package yarn

import "context"

// node is one NodeManager's machine.
type node struct {
	running bool
	free    resource
	labels  []string
}

// in is true for a node of a partition.
func (n node) in(partition string) bool {
	if len(n.labels) == 0 {
		return partition == ""
	}
	for _, l := range n.labels {
		if l == partition {
			return true
		}
	}
	return false
}

// nodes reads what is free on each node.
func (c *Cluster) nodes(ctx context.Context) ([]node, error) {
	return fetch(ctx, c, request{op: "read nodes", path: "/nodes"}, decodeNodes)
}

func decodeNodes(b []byte) ([]node, error) {
	body, err := fromJSON[struct {
		Nodes struct {
			Node several[struct {
				State  string          `json:"state"`
				Memory *count          `json:"availMemoryMB"`
				Cores  *count          `json:"availableVirtualCores"`
				Labels several[string] `json:"nodeLabels"`
			}] `json:"node"`
		} `json:"nodes"`
	}](b)
	if err != nil {
		return nil, err
	}
	out := make([]node, 0, len(body.Nodes.Node))
	for _, n := range body.Nodes.Node {
		known := n.Memory != nil && n.Cores != nil
		one := node{running: n.State == "RUNNING" && known, labels: n.Labels}
		if known {
			one.free = resource{int64(*n.Memory), int64(*n.Cores)}
		}
		out = append(out, one)
	}
	return out, nil
}

// available reads what is free in the whole cluster.
func (c *Cluster) available(ctx context.Context) (resource, error) {
	return fetch(ctx, c, request{op: "read metrics", path: "/metrics"}, decodeAvailable)
}

func decodeAvailable(b []byte) (resource, error) {
	body, err := fromJSON[struct {
		Metrics struct {
			Memory count `json:"availableMB"`
			Cores  count `json:"availableVirtualCores"`
		} `json:"clusterMetrics"`
	}](b)
	return resource{int64(body.Metrics.Memory), int64(body.Metrics.Cores)}, err
}
