package k8s

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"flinkscaler/core"
)

// standaloneMethod is for the job of a FlinkDeployment in standalone mode, where the
// operator keeps the TaskManagers in a Deployment. In reactive mode it changes nothing but
// the replicas of that; in any other it stops the job and starts it again.
//
// spec.taskManager.replicas must be set already. Writing it where it is not would
// make the API server's /scale answer, and change what the job's parallelism comes
// from, for good: that is for the user to do.
func standaloneMethod(ctx context.Context, v *view) (method, error) {
	options, err := v.flink.ClusterOptions(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case !reactive(options):
		return unsafe{"a change of replicas stops and redeploys a job in standalone mode: set scheduler-mode to reactive in spec.flinkConfiguration, or use mode native with the adaptive scheduler"}, nil
	case v.object.field("spec", "taskManager", "replicas") == nil:
		return unsafe{"spec.taskManager.replicas is not set, so nothing can scale the object: set it to the number of TaskManagers that there are now"}, nil
	}
	p, err := v.cluster.poolOf(ctx, flinkDeployment{}.resource(), v.object, standalone{v.object})
	if err != nil {
		return nil, err
	}
	return reactiveMethod(ctx, v, p)
}

// standalone is a FlinkDeployment in standalone mode, with what its operator shows.
type standalone struct{ o *object }

func (s standalone) status(path ...string) string {
	return s.o.text(append([]string{"status"}, path...)...)
}

// busy: only a stable object is changed, for the operator compares it with what it
// has deployed.
func (s standalone) busy() string {
	state := s.status("lifecycleState")
	switch {
	case s.status("error") != "":
		return "the operator reports an error: " + cut(s.status("error"))
	case !s.observed():
		return "the operator has not seen the last change yet"
	case !strings.EqualFold(state, "STABLE"):
		return "the operator says that it is " + orUnknown(state)
	}
	return ""
}

// observed is true for an operator that does not tell, too (before 1.8).
func (s standalone) observed() bool {
	seen := s.o.number("status", "observedGeneration")
	return seen == 0 || int64(seen) >= s.o.GetGeneration()
}

func (s standalone) come(_ context.Context, p pool) (core.Carried, error) {
	state := s.status("lifecycleState")
	deployed := reconciledReplicas(s.status("reconciliationStatus", "lastReconciledSpec"))
	switch {
	case s.status("error") != "":
		return outstanding("the operator reports an error: %s", cut(s.status("error"))), nil
	case !s.observed() || deployed != p.asked:
		return outstanding("the operator has not carried out %d TaskManagers yet, it has %s", p.asked, replicasText(deployed)), nil
	case !strings.EqualFold(state, "STABLE") && !strings.EqualFold(state, "DEPLOYED"):
		return outstanding("the operator says that it is %s", orUnknown(state)), nil
	}
	return core.Carried{Done: true}, nil
}

// reconciledReplicas reads the TaskManagers out of the spec that the operator
// deployed last, 0 for none.
func reconciledReplicas(spec string) int {
	var last struct {
		Spec struct {
			TaskManager struct {
				Replicas int `json:"replicas"`
			} `json:"taskManager"`
		} `json:"spec"`
	}
	if json.Unmarshal([]byte(spec), &last) != nil {
		return 0
	}
	return last.Spec.TaskManager.Replicas
}

func replicasText(n int) string {
	if n < 1 {
		return "none"
	}
	return fmt.Sprint(n)
}
