package main

import (
	"fmt"

	"flinkscaler/adapters/k8s"
	"flinkscaler/adapters/yarn"
	"flinkscaler/core"
)

// shown is a job that a platform shows.
type shown struct {
	target core.Target
	// name is what its workflow is to be called; of two alike the one of the lower rank
	// keeps it.
	name string
	rank int
	// means is how its size would be changed, nil where that cannot be told now.
	means *core.Means
}

// note says something that people should know, of a target or of the look itself.
type note struct {
	target      *core.Target
	about, text string
}

func (n note) String() string {
	if n.about == "" {
		return n.text
	}
	return n.about + ": " + n.text
}

// onKubernetes names jobs after their objects, namespace.name, and jobs on session
// clusters after their name in Flink, too. Of one name in a namespace the
// FlinkDeployment keeps it.
func onKubernetes(found []k8s.Found) []shown {
	var out []shown
	for _, f := range found {
		t := f.Target
		s := shown{target: core.Target{Kubernetes: &t}, name: t.Namespace + "." + t.Name, means: f.Means, rank: 2}
		switch {
		case t.JobName != "":
			s.name, s.rank = s.name+"."+t.JobName, 3
		case t.Kind == core.KindFlinkDeployment:
			s.rank = 0
		case t.Kind == core.KindFlinkSessionJob:
			s.rank = 1
		}
		out = append(out, s)
	}
	return out
}

// notLooked is what a look at Kubernetes cannot find.
const notLooked = "plain Deployments and StatefulSets are not looked for: name them by hand"

func kubernetesNotes(said []k8s.Note) []note {
	var out []note
	for _, n := range said {
		to := note{text: n.Text}
		if n.Target != nil {
			to.target = &core.Target{Kubernetes: n.Target}
			to.about = fmt.Sprintf("%s %s/%s", n.Target.Kind, n.Target.Namespace, n.Target.Name)
		}
		out = append(out, to)
	}
	return out
}

// onYarn names jobs after their application's name, else its tag, and jobs in sessions
// after their name in Flink, too.
func onYarn(found []yarn.Found) []shown {
	var out []shown
	for _, f := range found {
		t := f.Target
		s := shown{target: core.Target{Yarn: &t}, name: t.ApplicationName + t.ApplicationTag, means: f.Means}
		if t.JobName != "" {
			s.name, s.rank = s.name+"."+t.JobName, 1
		}
		out = append(out, s)
	}
	return out
}

func yarnNotes(said []yarn.Note) []note {
	var out []note
	for _, n := range said {
		to := note{text: n.Text}
		if n.Target != nil {
			to.target = &core.Target{Yarn: n.Target}
			to.about = "application " + n.Target.ApplicationName + n.Target.ApplicationTag
		}
		out = append(out, to)
	}
	return out
}
