package arch

import (
	"strings"
	"testing"

	"flinkscaler/core/spec"
)

// TestExamplesOfYarn decodes what docs/yarn.md shows: inputs and configurations, as the
// worker does.
func TestExamplesOfYarn(t *testing.T) {
	t.Parallel()
	var inputs, files int
	for _, m := range fence.FindAllStringSubmatch(read(t, "docs/yarn.md"), -1) {
		switch language, text := m[1], m[2]; language {
		case "json":
			for line := range strings.Lines(text) {
				inputs++
				if _, problems := spec.Decode([]byte(line)); len(problems) > 0 {
					t.Errorf("%s: %v", line, problems)
				}
			}
		case "yaml":
			files++
			loads(t, text)
		}
	}
	if inputs < 3 || files < 1 {
		t.Errorf("only %d inputs and %d configurations were found", inputs, files)
	}
}
