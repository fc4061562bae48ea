package main

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/activities"
	"flinkscaler/adapters/k8s"
	"flinkscaler/core"
)

// shelf keeps what it is sent, or fails.
type shelf struct {
	kept []string
	fail error
}

func (s *shelf) Send(_ context.Context, key core.JobKey, _ core.Target, events []core.Event) error {
	if s.fail != nil {
		return s.fail
	}
	for _, e := range events {
		s.kept = append(s.kept, key.String()+" "+e.DecisionID+" "+e.Message)
	}
	return nil
}

// TestSinks: each event is in the log once, and where its cluster wants it.
func TestSinks(t *testing.T) {
	t.Parallel()
	log, object := &shelf{}, &shelf{fail: core.ErrUnreachable}
	s := newSinks(log, nil)
	s.of["kube"] = object
	plain, kube := core.JobKey{Cluster: "plain", Job: "a"}, core.JobKey{Cluster: "kube", Job: "a"}
	one, two := core.Event{DecisionID: "1", Key: "k", Message: "one"}, core.Event{DecisionID: "2", Key: "k", Message: "two"}
	send := func(key core.JobKey, events ...core.Event) error {
		return s.Send(t.Context(), key, core.Target{}, events)
	}
	if err := send(plain, one); err != nil {
		t.Error(err)
	}
	if err := send(kube, one); !errors.Is(err, core.ErrUnreachable) {
		t.Errorf("got %v; what could not be told has to be tried again", err)
	}
	object.fail = nil
	if err := send(kube, one); err != nil {
		t.Error(err)
	}
	if err := send(kube, one, two); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"plain/a 1 one", "kube/a 1 one", "kube/a 2 two"}, log.kept); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"kube/a 1 one", "kube/a 1 one", "kube/a 2 two"}, object.kept); diff != "" {
		t.Errorf("object, which knows by itself what it has (-want +got):\n%s", diff)
	}
}

// TestSinksForget: what is remembered of the log is bounded.
func TestSinksForget(t *testing.T) {
	t.Parallel()
	s := newSinks(&shelf{}, nil)
	s.of["kube"] = &shelf{}
	for i := range 5 * maxLogged {
		if err := s.Send(t.Context(), core.JobKey{Cluster: "kube"}, core.Target{}, []core.Event{{DecisionID: fmt.Sprint(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.logged) + len(s.before); n < maxLogged || n > 2*maxLogged {
		t.Errorf("%d are remembered", n)
	}
}

func TestSinksOfClusters(t *testing.T) {
	t.Parallel()
	k := &k8s.Cluster{}
	s := newSinks(&shelf{}, map[string]cluster{"flink": {}, "kube": {kubernetes: k}})
	if diff := cmp.Diff(1, len(s.of)); diff != "" || s.of["kube"] != activities.EventSink(k) {
		t.Errorf("got %v", s.of)
	}
}
