package hadoop

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestContainerOfAProcess(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		args   []string
		want   Container
	}{
		"plain": {
			"the JVM of a JobManager", []string{"/jdk/bin/java", "-Dlog.file=/x/container_17_0002_01_000001/jobmanager.log", "Main"},
			Container{ID: "container_17_0002_01_000001", Application: "application_17_0002", Attempt: 1, Number: 1},
		},
		"behind a restart": {
			"the ResourceManager's count is in the name", []string{"java", "-Dx=container_e03_17_0002_02_000004"},
			Container{ID: "container_e03_17_0002_02_000004", Application: "application_17_0002", Attempt: 2, Number: 4},
		},
		"shell":  {"the shell around it ends with it", []string{"/bin/bash", "-c", "java container_17_0002_01_000001"}, Container{}},
		"daemon": {"a server is no container", []string{"java", "-cp", "/x/conf", "NodeManager"}, Container{}},
		"kernel": {"some processes have no command line", nil, Container{}},
	}
	for name, tc := range cases {
		got, ok := running{args: tc.args}.container()
		got.Command = ""
		if diff := cmp.Diff(tc.want, got); diff != "" || ok != (tc.want.ID != "") {
			t.Errorf("%s, %s: %v (-want +got):\n%s", name, tc.reason, ok, diff)
		}
	}
}
