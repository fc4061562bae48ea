package main

import "flinkscaler/internal/toolcache"

// render is what makes manifests of deploy/.
func (e *ensurer) render() []target {
	return []target{
		goTarget{
			e: e, program: "helm", version: toolcache.HelmVersion,
			pkg:     "helm.sh/helm/v3/cmd/helm",
			flags:   []string{quickly, stripped},
			place:   e.cache.Helm(),
			usually: "1 to 3 minutes",
			find:    found(e.cache.FindHelm),
		},
		goTarget{
			e: e, program: "kustomize", version: toolcache.KustomizeVersion,
			pkg:     "sigs.k8s.io/kustomize/kustomize/v5",
			flags:   []string{quickly, stripped},
			place:   e.cache.Kustomize(),
			usually: "half a minute to 2 minutes",
			find:    found(e.cache.FindKustomize),
		},
	}
}
