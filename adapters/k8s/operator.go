package k8s

import (
	"context"
	"strings"
)

// operatorMethod is for a job of the Apache operator in native mode, of its own
// cluster or on a session cluster.
func operatorMethod(context.Context, *view) (method, error) {
	return unsafe{"a job of the Apache operator cannot be scaled yet"}, nil
}

// sessionMethod is for a job on a session cluster that no FlinkSessionJob stands
// for.
func sessionMethod(context.Context, *view) (method, error) {
	return unsafe{"a job on a session cluster cannot be scaled yet"}, nil
}

// adaptive is true where the options in force have the adaptive scheduler.
func adaptive(options map[string]string) bool {
	return strings.EqualFold(options["jobmanager.scheduler"], "adaptive") || reactive(options)
}

// reactive is true where the job takes all slots that there are.
func reactive(options map[string]string) bool {
	return strings.EqualFold(options["scheduler-mode"], "reactive")
}
