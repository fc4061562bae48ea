package k8s

import "flinkscaler/core"

// mark says whether an object bears the mark of a decision, for the methods that
// leave one. A tool that replaces the whole object takes the mark, the value and
// the owner of the field with it, so that nobody is left to name.
func mark(m method, o *object) core.MarkState {
	switch m.(type) {
	case inPlace, upgrade, clusterJob:
	default:
		return ""
	}
	if o.GetAnnotations()[AnnotationDecision] == "" {
		return core.Unmarked
	}
	return core.Marked
}
