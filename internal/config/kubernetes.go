package config

import (
	"fmt"
	"os"
	"path/filepath"

	"flinkscaler/adapters/k8s"
	"flinkscaler/core/spec"
)

// kubernetes decodes how a Kubernetes cluster is reached. An empty section is the
// cluster that the worker runs in.
func (d *decoder) kubernetes(path string, raw any) *k8s.Config {
	s := d.section(path, raw, "kubeconfig", "context", "namespaces", "qps", "burst", "timeout", "access", "url", "nodes", "sessionTaskManagers", "flink")
	c := &k8s.Config{}
	if !s.valid {
		return c
	}
	s.text("kubeconfig", &c.Kubeconfig)
	if c.Kubeconfig != "" && !filepath.IsAbs(c.Kubeconfig) {
		c.Kubeconfig = filepath.Join(d.dir, c.Kubeconfig)
	}
	if c.Kubeconfig != "" {
		if _, err := os.ReadFile(c.Kubeconfig); err != nil {
			d.problem(path+".kubeconfig", "%v", err)
		}
	}
	s.text("context", &c.Context)
	s.texts("namespaces", &c.Namespaces)
	for i, n := range c.Namespaces {
		if !spec.IsNamespace(n) {
			d.problem(fmt.Sprintf("%s.namespaces[%d]", path, i), "is no name of a namespace, got %q", n)
		}
	}
	s.integer("qps", &c.QPS, 1)
	s.integer("burst", &c.Burst, 1)
	s.duration("timeout", &c.Timeout, 1)
	s.oneOf("access", &c.Access, []string{k8s.AccessService, k8s.AccessProxy})
	s.text("url", &c.URL)
	s.boolean("nodes", &c.Nodes)
	s.boolean("sessionTaskManagers", &c.SessionTaskManagers)
	d.kubernetesFlink(path, s.values["flink"], c)
	for _, p := range parts(c.Validate()) {
		d.flinkProblem(path, p.Error(), false)
	}
	return c
}

// kubernetesFlink decodes how the Flink REST APIs of the cluster are reached: all
// the same way, their addresses come from the objects.
func (d *decoder) kubernetesFlink(path string, raw any, c *k8s.Config) {
	if raw == nil {
		return
	}
	s := d.section(path+".flink", raw, clientKeys()...)
	d.client(s, &c.Flink)
	checked := d.checkFiles(path+".flink", c.Flink)
	checked.URLs = []string{"https://placeholder"}
	for _, p := range parts(checked.Validate()) {
		d.flinkProblem(path+".flink", p.Error(), false)
	}
}
