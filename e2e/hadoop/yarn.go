package hadoop

import (
	"context"
	"fmt"
	"strings"
)

// ResourceManager is one of YARN.
type ResourceManager struct {
	*Daemon
	cluster *Cluster
	at      resourceManager
}

func (c *Cluster) newResourceManager(at resourceManager) *ResourceManager {
	rm := &ResourceManager{cluster: c, at: at}
	rm.Daemon = c.daemon("resourcemanager-"+at.id, at.id, rm.ready, resourceManagerClass)
	return rm
}

// ID is rm1 or rm2.
func (rm *ResourceManager) ID() string { return rm.at.id }

// URL is the base of its web addresses: its REST API is below /ws/v1/cluster, its proxy below /proxy.
func (rm *ResourceManager) URL() string { return "http://" + address(rm.at.webPort) }

// Address is where clients speak to it over RPC, "localhost:PORT".
func (rm *ResourceManager) Address() string { return address(rm.at.client) }

// State is ACTIVE, STANDBY, or INITIALIZING while it starts. A standby answers for itself.
func (rm *ResourceManager) State(ctx context.Context) (string, error) {
	var info struct {
		ClusterInfo struct {
			HAState string `json:"haState"`
		} `json:"clusterInfo"`
	}
	if err := rm.cluster.get(ctx, rm.URL()+"/ws/v1/cluster/info", &info); err != nil {
		return "", fmt.Errorf("state of %s: %w", rm.Name(), err)
	}
	return info.ClusterInfo.HAState, nil
}

func (rm *ResourceManager) ready(ctx context.Context) (state string, ok bool) {
	found, err := rm.State(ctx)
	if err != nil {
		return err.Error(), false
	}
	return found, found == "ACTIVE" || found == "STANDBY"
}

// Active is the ResourceManager that is alive and says that it is active.
func (c *Cluster) Active(ctx context.Context) (*ResourceManager, error) {
	var seen []string
	for _, rm := range c.resourceManagers {
		if !rm.Alive() {
			seen = append(seen, rm.Name()+" is dead")
			continue
		}
		state, err := rm.State(ctx)
		switch {
		case err != nil:
			seen = append(seen, err.Error())
		case state == "ACTIVE":
			return rm, nil
		default:
			seen = append(seen, rm.Name()+" is "+state)
		}
	}
	return nil, fmt.Errorf("no active ResourceManager: %s", strings.Join(seen, ", "))
}

// REST asks the active ResourceManager below /ws/v1/cluster and decodes its answer.
func (c *Cluster) REST(ctx context.Context, path string, out any) error {
	rm, err := c.Active(ctx)
	if err != nil {
		return err
	}
	return c.get(ctx, rm.URL()+"/ws/v1/cluster"+path, out)
}

// nodeManagerReady: a NodeManager listens before the ResourceManager has taken it.
func (c *Cluster) nodeManagerReady(ctx context.Context) (state string, ok bool) {
	var metrics struct {
		ClusterMetrics struct {
			ActiveNodes int `json:"activeNodes"`
		} `json:"clusterMetrics"`
	}
	if err := c.REST(ctx, "/metrics", &metrics); err != nil {
		return err.Error(), false
	}
	return "the ResourceManager knows no active node", metrics.ClusterMetrics.ActiveNodes == 1
}
