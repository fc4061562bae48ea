package k8s

import "context"

// standaloneMethod is for a FlinkDeployment in standalone mode, where the operator
// keeps the TaskManagers in a Deployment.
func standaloneMethod(context.Context, *view) (method, error) {
	return unsafe{"a FlinkDeployment in standalone mode cannot be scaled yet"}, nil
}
