package kubelocal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
)

// fieldManager owns what Apply writes.
const fieldManager = "kubelocal"

// Namespace makes a namespace that nobody else has: the name begins with prefix, which may be what a test is called.
func (p *Plane) Namespace(ctx context.Context, prefix string) (string, error) {
	name := fmt.Sprintf("%s-%d", label(prefix), p.namespaces.Add(1))
	object := &core.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := p.clients.typed.CoreV1().Namespaces().Create(ctx, object, metav1.CreateOptions{}); err != nil {
		return "", fmt.Errorf("make namespace: %w", err)
	}
	return name, nil
}

// labelLimit leaves room for a number behind a label, which has at most 63 characters.
const labelLimit = 50

// label turns any text into one that a name may begin with: lower case letters, digits and dashes.
func label(text string) string {
	var out []byte
	for _, c := range []byte(text) {
		switch {
		case c >= 'A' && c <= 'Z':
			out = append(out, c-'A'+'a')
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			out = append(out, c)
		case len(out) > 0 && out[len(out)-1] != '-':
			out = append(out, '-')
		}
	}
	out = bytes.TrimRight(out[:min(len(out), labelLimit)], "-")
	if len(out) == 0 {
		return "test"
	}
	return string(out)
}

// Apply makes or changes the objects of manifests: YAML or JSON, several documents in one if need be. Objects without a
// namespace go into the given one, unless their kind has none.
func (p *Plane) Apply(ctx context.Context, namespace string, manifests ...string) error {
	for _, manifest := range manifests {
		objects, err := decode(manifest)
		if err != nil {
			return fmt.Errorf("apply: %w", err)
		}
		for _, object := range objects {
			if err := p.apply(ctx, namespace, object); err != nil {
				return fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
			}
		}
	}
	return nil
}

func (p *Plane) apply(ctx context.Context, namespace string, object *unstructured.Unstructured) error {
	resource, err := p.resource(namespace, object)
	if err != nil {
		return err
	}
	_, err = resource.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	return err
}

// resource finds where objects of a kind live. A kind that was defined a moment ago is looked up anew.
func (p *Plane) resource(namespace string, object *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := object.GroupVersionKind()
	mapping, err := p.clients.kinds.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		p.clients.kinds.Reset()
		mapping, err = p.clients.kinds.RESTMapping(kind.GroupKind(), kind.Version)
	}
	if err != nil {
		return nil, err
	}
	all := p.clients.dynamic.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return all, nil
	}
	if own := object.GetNamespace(); own != "" {
		namespace = own
	}
	return all.Namespace(namespace), nil
}

// decode reads the documents of a manifest; empty ones are left out.
func decode(manifest string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(manifest)), 4096)
	for {
		var content map[string]any
		err := decoder.Decode(&content)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("decode manifest: %w", err)
		}
		if len(content) > 0 {
			objects = append(objects, &unstructured.Unstructured{Object: content})
		}
	}
}
