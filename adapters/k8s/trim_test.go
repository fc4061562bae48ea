package k8s

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/adapters/flink"
)

// podOf is a pod, with an address, ready or not.
func podOf(t *testing.T, name, address string, up bool) *object {
	t.Helper()
	return made(t, fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: %s}, status: {podIP: %q, conditions: [{type: Ready, status: "%s"}]}}`,
		name, address, map[bool]string{true: "True", false: "False"}[up]))
}

func TestWhosePods(t *testing.T) {
	t.Parallel()
	tm := func(id, host string, free int) flink.TaskManager {
		return flink.TaskManager{ID: id, Host: host, Slots: 2, Free: free}
	}
	for name, c := range map[string]struct {
		reason    string
		addresses [2]string
		managers  []flink.TaskManager
		busy      []string
		unknown   []string
	}{
		"by address":     {"as Flink registers in a pod", [2]string{"10.0.0.1", "10.0.0.2"}, []flink.TaskManager{tm("10.0.0.1:6122-a", "10.0.0.1", 2), tm("10.0.0.2:6122-b", "10.0.0.2", 0)}, []string{"tm-1"}, nil},
		"by host name":   {"a StatefulSet's pod has one", [2]string{"", ""}, []flink.TaskManager{tm("x", "tm-0.tms.shop.svc", 1), tm("y", "tm-1", 2)}, []string{"tm-0"}, nil},
		"by id":          {"taskmanager.resource-id is the pod", [2]string{"127.0.0.1", "127.0.0.1"}, []flink.TaskManager{tm("tm-0", "127.0.0.1", 2), tm("tm-1", "127.0.0.1", 1)}, []string{"tm-1"}, nil},
		"shared address": {"hostNetwork: it could be either", [2]string{"10.0.0.9", "10.0.0.9"}, []flink.TaskManager{tm("z", "10.0.0.9", 1)}, nil, []string{"z"}},
		"idle stranger":  {"it holds nothing that could be lost", [2]string{"10.0.0.1", "10.0.0.2"}, []flink.TaskManager{tm("z", "10.0.0.9", 2)}, nil, nil},
		"longer name":    {"tm-1 is no tm-10", [2]string{"", ""}, []flink.TaskManager{tm("z", "tm-10.tms", 1)}, nil, []string{"z"}},
		"none":           {"nothing registered yet", [2]string{"10.0.0.1", "10.0.0.2"}, nil, nil, nil},
	} {
		found, unknown := whose([]*object{podOf(t, "tm-1", c.addresses[1], true), podOf(t, "tm-0", c.addresses[0], true)}, c.managers)
		if len(found) != 2 || found[0].name() != "tm-0" {
			t.Fatalf("%s: %+v", name, found)
		}
		if diff := cmp.Diff(c.busy, spare{workers: found}.busy()); diff != "" {
			t.Errorf("%s (%s), busy (-want +got):\n%s", name, c.reason, diff)
		}
		if diff := cmp.Diff(c.unknown, unknown); diff != "" {
			t.Errorf("%s (%s), unknown (-want +got):\n%s", name, c.reason, diff)
		}
	}
}

// TestHowManyCanGo: each letter is a pod, in the order of their numbers: b busy, i
// idle, n not ready, x busy and not ready, a dash one that never came.
func TestHowManyCanGo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason                  string
		pods                    string
		keep                    int
		ordinals, unready, idle int
	}{
		"all idle":           {"down to what is needed", "iiii", 1, 1, 4, 1},
		"the last is busy":   {"a StatefulSet must wait, a Deployment need not", "biib", 2, 4, 4, 2},
		"the first is busy":  {"it can go down to that", "biii", 1, 1, 4, 1},
		"one too few":        {"spread over more than needed", "bibi", 1, 3, 4, 2},
		"never came":         {"a quota: what is not there can go", "bb--", 2, 2, 2, 2},
		"starting":           {"those that are not ready go first", "bbin", 2, 2, 3, 2},
		"a busy one shakes":  {"it would go with those that are not ready", "bxin", 1, 2, 4, 4},
		"shakes, never came": {"what is not there can go all the same", "xi-", 1, 1, 2, 2},
		"all busy":           {"nothing can go", "bbb", 1, 3, 3, 3},
		"no more":            {"not below what is needed", "iin-", 3, 3, 3, 3},
	} {
		s := spare{asked: len(c.pods), keep: c.keep}
		for i, p := range c.pods {
			if p == '-' {
				continue
			}
			s.workers = append(s.workers, worker{pod: podOf(t, fmt.Sprint("tm-", i), "", true), ready: p == 'b' || p == 'i', busy: p == 'b' || p == 'x'})
		}
		if got := s.byOrdinal(); got != c.ordinals {
			t.Errorf("%s (%s): a StatefulSet down to %d, want %d", name, c.reason, got, c.ordinals)
		}
		if got := s.unready(); got != c.unready {
			t.Errorf("%s (%s): a Deployment for nothing down to %d, want %d", name, c.reason, got, c.unready)
		}
		if got := s.idle(); got != c.idle {
			t.Errorf("%s (%s): a Deployment that keeps busy pods down to %d, want %d", name, c.reason, got, c.idle)
		}
	}
}

func TestFirstOrdinal(t *testing.T) {
	t.Parallel()
	s := spare{asked: 2, keep: 1, first: 5, workers: []worker{{pod: podOf(t, "tm-5", "", true), busy: true}, {pod: podOf(t, "tm-6", "", true)}}}
	if got := s.byOrdinal(); got != 1 {
		t.Errorf("pods 5 and 6, the latter idle: down to %d, want 1", got)
	}
	s.workers[1].busy = true
	if got := s.byOrdinal(); got != 2 {
		t.Errorf("pods 5 and 6, both busy: down to %d, want 2", got)
	}
}
