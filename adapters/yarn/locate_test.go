package yarn

import "testing"

// TestMethodOf: nobody reads "in place" of a job that would be stopped.
func TestMethodOf(t *testing.T) {
	t.Parallel()
	for scheduler, tt := range map[string]struct{ reason, want string }{
		"Adaptive":      {"changed as it runs", "yarn-in-place"},
		"Default":       {"stopped with a savepoint and started again", "yarn-redeploy"},
		"AdaptiveBatch": {"not in place either", "yarn-redeploy"},
		"":              {"Flink before 2.3 does not tell", "yarn"},
	} {
		if got := methodOf(scheduler); got != tt.want {
			t.Errorf("%q: %s: %q, want %q", scheduler, tt.reason, got, tt.want)
		}
	}
}
