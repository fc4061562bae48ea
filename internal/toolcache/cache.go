package toolcache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The pinned versions. Those of programs built from source must be those of their modules below tools/.
const (
	// TemporalVersion is the newest temporal CLI that builds from its published module alone.
	TemporalVersion = "1.5.1"
	// TctlVersion is the last tctl.
	TctlVersion = "1.18.0"
	// Flink2 is the Flink 2 release that the e2e tier and the demo run.
	Flink2 = "2.3.0"
	// Flink1 is the Flink 1 release beside it. The test job is compiled against this one.
	Flink1 = "1.20.5"
	// FlinkOperated is the Flink that runs behind the Kubernetes operator. The client inside OperatorVersion is older than
	// Flink1 and does not understand its answers.
	FlinkOperated = "1.18.1"
	// EtcdVersion is what KubeVersion is tested with.
	EtcdVersion = "3.6.16"
	// KubeVersion is that of the Kubernetes API server and controller manager.
	KubeVersion = "1.37.2"
	// HelmVersion and KustomizeVersion render what is in deploy/.
	HelmVersion      = "3.22.0"
	KustomizeVersion = "5.8.2"
	// OperatorVersion is the newest Flink Kubernetes operator that is published with its code.
	OperatorVersion = "1.7.0"
	// OperatorCRDVersion is the newest release whose custom resource definitions are published. OperatorVersion runs on
	// them.
	OperatorCRDVersion = "1.10.0"
	// Hadoop is the release whose HDFS and YARN the e2e tier runs. Its shapes are looked at on HadoopOld and HadoopNew too.
	Hadoop    = "3.4.2"
	HadoopOld = "3.3.6"
	HadoopNew = "3.5.0"
)

// EnvDir names the environment variable that moves the cache.
const EnvDir = "FLINKSCALER_CACHE"

// ErrMissing says that a tool is not in the cache. The error that wraps it says how to get it.
var ErrMissing = errors.New("not in the tool cache")

// Cache is a folder that holds tools and distributions.
type Cache struct {
	root string
}

// Dir returns the folder of the cache: $FLINKSCALER_CACHE, otherwise flinkscaler in the user's cache directory.
func Dir() (string, error) {
	if dir := os.Getenv(EnvDir); dir != "" {
		return filepath.Abs(dir)
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find tool cache (set %s): %w", EnvDir, err)
	}
	return filepath.Join(base, "flinkscaler"), nil
}

// Open returns the cache at Dir. Nothing is created.
func Open() (Cache, error) {
	dir, err := Dir()
	if err != nil {
		return Cache{}, err
	}
	return At(dir), nil
}

// At returns the cache at a given folder.
func At(root string) Cache { return Cache{root: root} }

// Root is the folder of the cache.
func (c Cache) Root() string { return c.root }

// Temporal is the place of the temporal CLI that was built for this cache. See FindTemporal for the one to run.
func (c Cache) Temporal() string { return c.bin("temporal-" + TemporalVersion) }

// Tctl is the place of tctl.
func (c Cache) Tctl() string { return c.bin("tctl-" + TctlVersion) }

// FlinkHome is the place of an unpacked Flink distribution.
func (c Cache) FlinkHome(version string) string { return filepath.Join(c.root, "flink-"+version) }

// TestJob is the place of the test job's jar that was built from sources with this hash.
func (c Cache) TestJob(hash string) string { return filepath.Join(c.root, "testjob-"+hash+".jar") }

// Oracle is the place of the Java autoscaler with the harness that was built from sources with this hash.
func (c Cache) Oracle(hash string) string { return filepath.Join(c.root, "oracle-"+hash) }

// Etcd is the place of etcd.
func (c Cache) Etcd() string { return c.bin("etcd-" + EtcdVersion) }

// KubeAPIServer is the place of kube-apiserver.
func (c Cache) KubeAPIServer() string { return c.bin("kube-apiserver-" + KubeVersion) }

// KubeControllerManager is the place of kube-controller-manager.
func (c Cache) KubeControllerManager() string { return c.bin("kube-controller-manager-" + KubeVersion) }

// Helm is the place of helm.
func (c Cache) Helm() string { return c.bin("helm-" + HelmVersion) }

// Kustomize is the place of kustomize.
func (c Cache) Kustomize() string { return c.bin("kustomize-" + KustomizeVersion) }

// FlinkOperator is the place of the Flink Kubernetes operator: its jars, and the CRDs beside them.
func (c Cache) FlinkOperator() Operator {
	return OperatorAt(filepath.Join(c.root, "flink-operator-"+OperatorVersion+"-crds-"+OperatorCRDVersion))
}

// HadoopDist is the place of the jars of a Hadoop release.
func (c Cache) HadoopDist(version string) HadoopDist {
	return HadoopAt(filepath.Join(c.root, "hadoop-"+version))
}

// Downloads is the folder for archives between download and unpacking.
func (c Cache) Downloads() string { return filepath.Join(c.root, "dl") }

// Locks is the folder of the lock files with which two runs of tools/ensure stay out of each other's way.
func (c Cache) Locks() string { return filepath.Join(c.root, "locks") }

func (c Cache) bin(name string) string { return filepath.Join(c.root, "bin", name) }

// FindTctl returns the tctl to run, or ErrMissing.
func (c Cache) FindTctl() (string, error) { return present(c.Tctl(), "tctl") }

// FindFlinkHome returns the folder of an unpacked Flink distribution, or ErrMissing.
func (c Cache) FindFlinkHome(version string) (string, error) {
	return present(c.FlinkHome(version), "flink:"+version)
}

// FindTestJob returns the jar built from sources with this hash, or ErrMissing.
func (c Cache) FindTestJob(hash string) (string, error) { return present(c.TestJob(hash), "testjob") }

// FindOracle returns the folder built from sources with this hash, or ErrMissing.
func (c Cache) FindOracle(hash string) (string, error) { return present(c.Oracle(hash), "oracle") }

// FindEtcd returns the etcd to run, or ErrMissing.
func (c Cache) FindEtcd() (string, error) { return present(c.Etcd(), "kube") }

// FindKubeAPIServer returns the kube-apiserver to run, or ErrMissing.
func (c Cache) FindKubeAPIServer() (string, error) { return present(c.KubeAPIServer(), "kube") }

// FindKubeControllerManager returns the kube-controller-manager to run, or ErrMissing.
func (c Cache) FindKubeControllerManager() (string, error) {
	return present(c.KubeControllerManager(), "kube")
}

// FindHelm returns the helm to run, or ErrMissing.
func (c Cache) FindHelm() (string, error) { return present(c.Helm(), "render") }

// FindKustomize returns the kustomize to run, or ErrMissing.
func (c Cache) FindKustomize() (string, error) { return present(c.Kustomize(), "render") }

// FindFlinkOperator returns where the parts of the operator are, or ErrMissing.
func (c Cache) FindFlinkOperator() (Operator, error) {
	o := c.FlinkOperator()
	_, err := present(o.Root, "flink-operator")
	return o, err
}

// FindHadoop returns where the jars of a Hadoop release are, or ErrMissing.
func (c Cache) FindHadoop(version string) (HadoopDist, error) {
	h := c.HadoopDist(version)
	_, err := present(h.Root, "hadoop:"+version)
	return h, err
}

// present returns path when something is there; target is what tools/ensure calls it.
func present(path, target string) (string, error) {
	_, err := os.Stat(path)
	switch {
	case err == nil:
		return path, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("find %s (run: go run ./tools/ensure %s): %w", target, target, ErrMissing)
	default:
		return "", fmt.Errorf("find %s: %w", target, err)
	}
}
