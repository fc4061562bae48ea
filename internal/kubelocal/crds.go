package kubelocal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	kube "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"flinkscaler/internal/child"
	"flinkscaler/internal/toolcache"
)

// definitions are custom resource definitions.
func definitions() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
}

// OperatorCRDs are the manifests with which the Flink Kubernetes operator defines FlinkDeployment, FlinkSessionJob and
// FlinkStateSnapshot.
func OperatorCRDs() ([]string, error) {
	cache, err := toolcache.Open()
	if err != nil {
		return nil, err
	}
	operator, err := cache.FindFlinkOperator()
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(operator.CRDs, "*.yml"))
	if err != nil {
		return nil, err
	}
	var manifests []string
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		manifests = append(manifests, string(content))
	}
	return manifests, nil
}

// InstallCRDs defines custom resources by their manifests, and returns when they are served. What is defined already is
// left as it is: planes are shared.
func (p *Plane) InstallCRDs(ctx context.Context, manifests ...string) error {
	var objects []*unstructured.Unstructured
	for _, manifest := range manifests {
		some, err := decode(manifest)
		if err != nil {
			return fmt.Errorf("install CRDs: %w", err)
		}
		objects = append(objects, some...)
	}
	for _, object := range objects {
		// Created, not applied: these are too large to be kept a second time with the fields that somebody owns.
		_, err := p.clients.dynamic.Resource(definitions()).Create(ctx, object, metav1.CreateOptions{})
		if err != nil && !kube.IsAlreadyExists(err) {
			return fmt.Errorf("install CRD %s: %w", object.GetName(), err)
		}
	}
	for _, object := range objects {
		if err := p.served(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// served waits until objects of a kind can be listed, and their kind be looked up: the API server takes on a kind a
// moment after it was defined, and tells of it another moment later.
func (p *Plane) served(ctx context.Context, definition *unstructured.Unstructured) error {
	resource, err := defined(definition)
	if err != nil {
		return fmt.Errorf("install CRD %s: %w", definition.GetName(), err)
	}
	ctx, cancel := context.WithTimeout(ctx, p.options.WaitTimeout)
	defer cancel()
	return child.WaitFor(ctx, "CRD "+definition.GetName(), func(ctx context.Context) (string, bool, error) {
		_, err := p.clients.dynamic.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1})
		if err == nil {
			p.clients.kinds.Reset()
			_, err = p.clients.kinds.KindFor(resource)
		}
		return fmt.Sprint(err), err == nil, nil
	})
}

// defined is what a definition makes available, in the first version that it serves.
func defined(definition *unstructured.Unstructured) (schema.GroupVersionResource, error) {
	var d struct {
		Spec struct {
			Group string `json:"group"`
			Names struct {
				Plural string `json:"plural"`
			} `json:"names"`
			Versions []struct {
				Name   string `json:"name"`
				Served bool   `json:"served"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(definition.Object, &d); err != nil {
		return schema.GroupVersionResource{}, err
	}
	for _, v := range d.Spec.Versions {
		if v.Served {
			return schema.GroupVersionResource{Group: d.Spec.Group, Version: v.Name, Resource: d.Spec.Names.Plural}, nil
		}
	}
	return schema.GroupVersionResource{}, errors.New("no version of it is served")
}
