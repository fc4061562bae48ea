package kubesim

import _ "embed"

// FlinkClusterCRD defines the kind FlinkCluster as far as it is played here; no
// definition of it is published.
//
//go:embed flinkcluster-crd.yaml
var FlinkClusterCRD string
