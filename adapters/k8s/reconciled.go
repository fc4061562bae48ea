package k8s

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// reconciled is what the Apache operator says that it carried out last.
type reconciled struct {
	// overrides are those of the job; state is "suspended" while it is replaced.
	overrides overrides
	state     string
	// generation is that of the object then, 0 where the operator does not keep it
	// here: it does up to 1.7.
	generation int64
}

// lastReconciled decodes status.reconciliationStatus.lastReconciledSpec. Nothing
// there is a job that was never carried out.
func lastReconciled(o *object) (reconciled, error) {
	text := o.text("status", "reconciliationStatus", "lastReconciledSpec")
	if text == "" {
		return reconciled{overrides: overrides{}}, nil
	}
	var body struct {
		Spec struct {
			Job struct {
				State string `json:"state"`
			} `json:"job"`
			Config map[string]any `json:"flinkConfiguration"`
		} `json:"spec"`
		Resource struct {
			Metadata struct {
				Generation int64 `json:"generation"`
			} `json:"metadata"`
		} `json:"resource_metadata"`
	}
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		return reconciled{}, fmt.Errorf("status.reconciliationStatus.lastReconciledSpec: %w", err)
	}
	found, _, err := findOverrides(body.Spec.Config)
	if err != nil {
		return reconciled{}, fmt.Errorf("what the operator carried out last: %w", err)
	}
	return reconciled{overrides: found, state: body.Spec.Job.State, generation: body.Resource.Metadata.Generation}, nil
}

// seen is the generation of the object that the operator has carried out, 0 for
// none.
func (r reconciled) seen(o *object) int64 {
	if n, err := strconv.ParseInt(o.text("status", "observedGeneration"), 10, 64); err == nil {
		return n
	}
	return r.generation
}
