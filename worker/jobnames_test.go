package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flinkscaler/adapters/k8s"
	"flinkscaler/core"
	"flinkscaler/core/spec"
)

func found(targets ...core.KubernetesTarget) []shown {
	var out []k8s.Found
	for _, t := range targets {
		out = append(out, k8s.Found{Target: t})
	}
	return onKubernetes(out)
}

func TestJobNames(t *testing.T) {
	t.Parallel()
	deployment := func(namespace, name, job string) core.KubernetesTarget {
		return core.KubernetesTarget{Namespace: namespace, Kind: core.KindFlinkDeployment, Name: name, JobName: job}
	}
	session := core.KubernetesTarget{Namespace: "shop", Kind: core.KindFlinkSessionJob, Name: "orders"}
	long := deployment("shop", "s", strings.Repeat("x", 200))
	cases := map[string]struct {
		reason string
		found  []shown
		want   []string
	}{
		"two namespaces":  {"one name in two namespaces is two jobs", found(deployment("a", "orders", ""), deployment("b", "orders", "")), []string{"a.orders", "b.orders"}},
		"two kinds":       {"the FlinkDeployment keeps the name, whatever comes first", found(session, deployment("shop", "orders", "")), []string{"shop.orders-40a6d582", "shop.orders"}},
		"a session":       {"by the name in Flink too", found(deployment("shop", "s", "Returns v2")), []string{"shop.s.Returns-v2-"}},
		"dots":            {"a name may look like that of a job on a session", found(deployment("shop", "s", "a"), deployment("shop", "s.a", "")), []string{"shop.s.a-", "shop.s.a"}},
		"too long":        {"names have an end", found(long), []string{"shop.s." + strings.Repeat("x", 112) + "-"}},
		"odd, and alike ": {"what is spelt otherwise may meet another", found(deployment("shop", "s", "a b"), deployment("shop", "s", "a/b")), []string{"shop.s.a-b-", "shop.s.a-b-"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := jobNames(tc.found)
			seen := map[string]bool{}
			for i, n := range got {
				if seen[n] {
					t.Errorf("%s: %q twice", tc.reason, n)
				}
				seen[n] = true
				if want := tc.want[i]; n != want && (!strings.HasSuffix(want, "-") || !strings.HasPrefix(n, want) || len(n) != len(want)+8) {
					t.Errorf("%s: %q; want %q", tc.reason, n, want)
				}
			}
			if diff := cmp.Diff(got, jobNames(tc.found)); diff != "" {
				t.Errorf("another name at the next look:\n%s", diff)
			}
			for _, c := range candidates("dev", tc.found) {
				line, err := c.line()
				if _, problems := spec.Decode([]byte(line)); err != nil || len(problems) > 0 || c.Refused != "" {
					t.Errorf("%s: %s is no good input: %v %v %s", tc.reason, line, err, problems, c.Refused)
				}
			}
		})
	}
}

// TestNamesThatNoInputMayHave: such a job is shown, with the reason.
func TestNamesThatNoInputMayHave(t *testing.T) {
	t.Parallel()
	got := candidates("dev", found(core.KubernetesTarget{Namespace: "shop", Kind: core.KindFlinkDeployment, Name: "s", JobName: "a\nb"}))
	if !strings.Contains(got[0].Refused, "control characters") {
		t.Errorf("refused: %q", got[0].Refused)
	}
}

func TestManyJobsHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	var all []core.KubernetesTarget
	for i := range 400 {
		for _, kind := range []string{core.KindFlinkDeployment, core.KindFlinkSessionJob, core.KindFlinkCluster} {
			all = append(all, core.KubernetesTarget{Namespace: fmt.Sprintf("n%d", i%7), Kind: kind, Name: fmt.Sprintf("j%d", i)})
		}
	}
	seen := map[string]bool{}
	for _, n := range jobNames(found(all...)) {
		seen[n] = true
	}
	if len(seen) != len(all) {
		t.Errorf("%d names for %d jobs", len(seen), len(all))
	}
}
