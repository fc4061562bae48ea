package toolcache

import "path/filepath"

// Operator is where the parts of a Flink Kubernetes operator are.
type Operator struct {
	// Root is the folder of all of it.
	Root string
	// Jars is a folder with the operator's jars and those that it needs.
	Jars string
	// CRDs is a folder with the manifests of its custom resource definitions, one in each .yml file.
	CRDs string
}

// OperatorAt says where they are below a given folder.
func OperatorAt(root string) Operator {
	return Operator{Root: root, Jars: filepath.Join(root, "jars"), CRDs: filepath.Join(root, "crds")}
}
