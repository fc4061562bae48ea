package kubelet

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"flinkscaler/internal/flinklocal"
)

func podWith(command, args []string, env ...core.EnvVar) core.Pod {
	return core.Pod{
		ObjectMeta: meta.ObjectMeta{Name: "p", Namespace: "n"},
		Spec:       core.PodSpec{Containers: []core.Container{{Command: command, Args: args, Env: env}}},
	}
}

func TestReadProgram(t *testing.T) {
	t.Parallel()
	ip := core.EnvVar{Name: "_POD_IP_ADDRESS", ValueFrom: &core.EnvVarSource{FieldRef: &core.ObjectFieldSelector{FieldPath: "status.podIP"}}}
	cases := map[string]struct {
		reason string
		pod    core.Pod
		want   program
	}{
		"native application": {
			"Flink's client starts a script in a shell",
			podWith([]string{"/docker-entrypoint.sh"}, []string{"bash", "-c", "kubernetes-jobmanager.sh kubernetes-application "}),
			program{class: flinklocal.ApplicationClass, native: true},
		},
		"native session": {
			"the same script with another word",
			podWith([]string{"/docker-entrypoint.sh"}, []string{"bash", "-c", "kubernetes-jobmanager.sh kubernetes-session "}),
			program{class: flinklocal.SessionClass, native: true},
		},
		"standalone application": {
			"as the operator starts it: arguments refer to the environment",
			podWith([]string{"/docker-entrypoint.sh"}, []string{"standalone-job", "--host", "$(_POD_IP_ADDRESS)", "--job-classname", "a.B", "$(unknown)"}, ip),
			program{
				class: flinklocal.ApplicationClass, config: map[string]string{},
				args: []string{"--host", "127.0.0.1", "--job-classname", "a.B", "$(unknown)"},
			},
		},
		"TaskManager": {
			"configuration as arguments, in both spellings",
			podWith(nil, []string{"taskmanager", "-Da=b=c", "-D", "d=e", "-Dodd"}),
			program{class: flinklocal.TaskManagerClass, config: map[string]string{"a": "b=c", "d": "e"}, args: []string{"-Dodd"}},
		},
	}
	for name, tc := range cases {
		got, err := readProgram(tc.pod)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(program{})); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
	for _, pod := range []core.Pod{podWith(nil, []string{"history-server"}), {}} {
		if got, err := readProgram(pod); err == nil {
			t.Errorf("readProgram = %v; want an error", got)
		}
	}
}

func TestReadConfiguration(t *testing.T) {
	t.Parallel()
	want := map[string]string{"rest.port": "1234", "state.savepoints.dir": "file:///s", "env": "a: b"}
	old := readLines("# comment: x\nrest.port: 1234\nstate.savepoints.dir: 'file:///s'\nenv: a: b\n\nodd\n")
	if diff := cmp.Diff(want, old); diff != "" {
		t.Errorf("old form (-want +got):\n%s", diff)
	}
	nested, err := readYAML("rest.port: 1234\nstate: {savepoints.dir: 'file:///s'}\nenv: 'a: b'\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, nested); diff != "" {
		t.Errorf("new form (-want +got):\n%s", diff)
	}
	if got, err := readYAML("a: [b"); err == nil {
		t.Errorf("half a file is %v", got)
	}
}

func TestLocalConfiguration(t *testing.T) {
	t.Parallel()
	given := map[string]string{
		"jobmanager.rpc.address": "orders.shop", "jobmanager.rpc.port": "6123", "rest.port": "1234", "rest.address": "orders-rest.shop",
		"taskmanager.numberOfTaskSlots": "3", "taskmanager.memory.process.size": "1024m", "kubernetes.pod-template-file.jobmanager": "/x",
		"kubernetes.cluster-id": "orders", "pipeline.jobvertex-parallelism-overrides": "a:1", "$internal.application.main": "a.B",
		"$internal.pipeline.job-id": "0123",
	}
	got, err := localConfig(given, "/d", endpoint{host: loopback, port: 5})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"jobmanager.rpc.address": "127.0.0.1", "jobmanager.rpc.port": "5", "rest.port": "1234", "rest.address": "127.0.0.1", "rest.bind-port": "1234",
		"taskmanager.numberOfTaskSlots": "3", "taskmanager.cpu.cores": "3.0", "kubernetes.cluster-id": "orders",
		"pipeline.jobvertex-parallelism-overrides": "a:1", "$internal.pipeline.job-id": "0123",
	}
	for key, value := range want {
		if got[key] != value {
			t.Errorf("%s = %q; want %q", key, got[key], value)
		}
	}
	for _, key := range []string{"taskmanager.memory.process.size", "kubernetes.pod-template-file.jobmanager", "$internal.application.main"} {
		if value, there := got[key]; there {
			t.Errorf("%s = %q; it does not work here", key, value)
		}
	}
	if _, err := localConfig(map[string]string{"taskmanager.numberOfTaskSlots": "many"}, "/d", endpoint{}); err == nil {
		t.Error("many slots are no error")
	}
}

func TestApplicationArguments(t *testing.T) {
	t.Parallel()
	got := applicationArgs(map[string]string{
		"$internal.application.main": "a.B", "$internal.application.program-args": "--x;1; ;'y'", "execution.savepoint.path": "file:///s",
	})
	want := "--job-classname a.B --fromSavepoint file:///s --x 1 y"
	if text := strings.Join(got, " "); text != want {
		t.Errorf("arguments %q; want %q", text, want)
	}
}

func TestImages(t *testing.T) {
	t.Parallel()
	for _, image := range []string{"flink", "flink:", "flink:0.1", "flink:1.1"} {
		if _, err := distribution(image); err == nil || !strings.Contains(err.Error(), "no such Flink") {
			t.Errorf("image %s: %v; want an error", image, err)
		}
	}
}
