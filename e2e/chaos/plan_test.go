package chaos

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAPlanRepeats(t *testing.T) {
	t.Parallel()
	p := Plan{Seed: 7, Faults: 200, Clusters: 2, Ordered: 3, Loaded: 1}
	if diff := cmp.Diff(p.Make(), p.Make()); diff != "" {
		t.Errorf("the same seed gives another plan:\n%s", diff)
	}
	other := p
	other.Seed++
	if cmp.Equal(p.Make(), other.Make()) {
		t.Error("another seed gives the same plan")
	}
}

// TestAPlanIsBalanced: kinds come equally often, and within a kind steps.
func TestAPlanIsBalanced(t *testing.T) {
	t.Parallel()
	for _, n := range []int{15, 200, 1000} {
		faults := Plan{Seed: 3, Faults: n, Clusters: 2, Ordered: 3, Loaded: 1}.Make()
		byKind, byStep := map[Kind]int{}, map[Kind]map[Step]int{}
		for i, f := range faults {
			if f.Number != i+1 {
				t.Fatalf("fault %d has the number %d", i+1, f.Number)
			}
			byKind[f.Kind]++
			if byStep[f.Kind] == nil {
				byStep[f.Kind] = map[Step]int{}
			}
			byStep[f.Kind][f.Step]++
		}
		if len(faults) != n {
			t.Errorf("%d faults of %d", len(faults), n)
		}
		for _, k := range kinds() {
			if c := byKind[k.kind]; c < n/len(kinds()) || c > n/len(kinds())+1 {
				t.Errorf("of %d faults %d are %s", n, c, k.kind)
			}
			for _, s := range k.steps {
				if c, least := byStep[k.kind][s], byKind[k.kind]/len(k.steps); c < least || c > least+1 {
					t.Errorf("of %d %s %d are at %s", byKind[k.kind], k.kind, c, s)
				}
			}
		}
	}
}

// TestJobsShare: a job with a load gets a third of what one with orders gets, and
// each cluster the same.
func TestJobsShare(t *testing.T) {
	t.Parallel()
	p := Plan{Seed: 1, Faults: 20_000, Clusters: 2, Ordered: 3, Loaded: 1}
	faults := p.Make()
	total := 0
	for cluster := range p.Clusters {
		for job, share := range []float64{3, 3, 3, 1} {
			n := len(of(faults, cluster, job))
			total += n
			// What happens to an undo is taken from all alike.
			if want := share * float64(p.Faults) / 20; float64(n) > want || float64(n) < 0.7*want {
				t.Errorf("job %d of cluster %d has %d faults, want most of %.0f", job, cluster, n, want)
			}
		}
		undone := of(faults, cluster, p.failing())
		total += len(undone)
		for _, f := range undone {
			if f.Step != AtUndo {
				t.Errorf("the job that fails gets %+v", f)
			}
		}
	}
	if total != len(faults) {
		t.Errorf("%d of %d faults have a job", total, len(faults))
	}
	for _, f := range faults {
		if f.Step == AtUndo && f.Job != p.failing() {
			t.Errorf("an undo of a job that does not fail: %+v", f)
		}
		if f.Down < 0 || f.Down > 8*time.Second || f.Times < 1 || f.Times > 3 {
			t.Errorf("%+v", f)
		}
	}
}

// TestClusters: a simulated one has so many faults at most, a real one any.
func TestClusters(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		s    Settings
		want int
	}{
		{Settings{Faults: 1}, 2}, {Settings{Faults: 200}, 2}, {Settings{Faults: 15, Simulated: true}, 2}, {Settings{Faults: 500, Simulated: true}, 2},
		{Settings{Faults: 1000, Simulated: true}, 4}, {Settings{Faults: 1001, Simulated: true}, 6},
	} {
		if got := tt.s.plan().Clusters; got != tt.want {
			t.Errorf("%d faults, simulated %v: %d clusters, want %d", tt.s.Faults, tt.s.Simulated, got, tt.want)
		}
	}
}
