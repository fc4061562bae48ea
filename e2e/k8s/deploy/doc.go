// Package deploy holds tests of the manifests in deploy/: they are rendered by
// kustomize and by Helm, applied to a real API server, and what they allow and
// forbid is tried out with the token of the worker's ServiceAccount.
package deploy
