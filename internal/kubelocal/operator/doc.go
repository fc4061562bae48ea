// Package operator runs the real Flink Kubernetes operator against a plane of package kubelocal, with waits so short that
// tests see what it does within seconds. It watches all namespaces and reaches JobManagers on loopback at the rest.port of
// their configuration, so each cluster needs one of its own.
//
// It is the newest operator that is published with its code. Later ones differ: they say which generation they have observed,
// call a rescale in place deployed at once, keep the lower bounds of requirements, and give a job another id with each
// upgrade.
package operator
