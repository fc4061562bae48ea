package redeploy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"flinkscaler/core"
	"flinkscaler/core/redeploy"
)

const folder = "hdfs://ns/sp/orders-0123456789abcdef/"

func kept(name string, minute int, complete bool) redeploy.Kept {
	return redeploy.Kept{
		StopDirectory: core.StopDirectory{Path: folder + name, At: time.Date(2026, 12, 1, 12, minute, 0, 0, time.UTC)}, Complete: complete,
	}
}

func TestSurplus(t *testing.T) {
	t.Parallel()
	five := []redeploy.Kept{kept("3", 3, true), kept("1", 1, true), kept("5", 5, true), kept("2", 2, true), kept("4", 4, true)}
	for name, tt := range map[string]struct {
		reason string
		all    []redeploy.Kept
		keep   int
		inUse  []string
		want   []string
	}{
		"newest kept":        {"whatever the order", five, 3, nil, []string{"1", "2"}},
		"few":                {"nothing is too much", five[:3], 3, nil, nil},
		"all":                {"0 keeps all", five, 0, nil, nil},
		"restored from":      {"the job could need it", five, 2, []string{"hdfs://ns/sp/orders-0123456789abcdef/1/savepoint-0a0a0a-1"}, []string{"2", "3"}},
		"other spelling":     {"Flink and the worker call one place by two names", five, 2, []string{"hdfs:/sp/orders-0123456789abcdef/1/savepoint-0a0a0a-1/"}, []string{"2", "3"}},
		"the directory":      {"of the stop itself", five, 1, []string{folder + "3"}, []string{"1", "2", "4"}},
		"alike":              {"1 is not 10", append(slices.Clone(five), kept("10", 0, true)), 4, []string{folder + "10/savepoint-a"}, []string{"1"}},
		"the folder itself":  {"then all of it is in use", five, 1, []string{folder}, nil},
		"a failed stop":      {"what is newer than those that are kept may be under way", []redeploy.Kept{kept("2", 2, true), kept("3", 3, false), kept("1", 1, true)}, 1, nil, []string{"1"}},
		"an old failed stop": {"it left nothing to restore", []redeploy.Kept{kept("2", 2, true), kept("1", 1, false)}, 1, nil, []string{"1"}},
		"only failed stops":  {"nobody knows what they left", []redeploy.Kept{kept("2", 2, false), kept("1", 1, false)}, 1, nil, nil},
		"no path in use":     {"an empty one is none", five[:2], 1, []string{""}, []string{"1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range redeploy.Surplus(tt.all, tt.keep, tt.inUse) {
				got = append(got, strings.TrimPrefix(p, folder))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// TestNothingInUseIsSurplus, and never one of the newest, whatever there is.
func TestNothingInUseIsSurplus(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var all []redeploy.Kept
		for i := range rapid.IntRange(0, 12).Draw(t, "directories") {
			all = append(all, kept(fmt.Sprint(i), rapid.IntRange(0, 6).Draw(t, "minute"), rapid.Bool().Draw(t, "complete")))
		}
		var inUse []string
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 14), 0, 4).Draw(t, "in use") {
			inUse = append(inUse, folder+fmt.Sprint(n)+rapid.SampledFrom([]string{"", "/", "/savepoint-a", "/savepoint-a/"}).Draw(t, "form"))
		}
		keep := rapid.IntRange(0, 5).Draw(t, "keep")
		gone := redeploy.Surplus(all, keep, inUse)
		left := 0
		for _, d := range all {
			if slices.Contains(gone, d.Path) {
				for _, u := range inUse {
					if u = strings.TrimRight(u, "/"); u == d.Path || strings.HasPrefix(u, d.Path+"/") {
						t.Fatalf("%s is in use by %s", d.Path, u)
					}
				}
				for _, o := range all {
					if !slices.Contains(gone, o.Path) && o.Complete && o.At.Before(d.At) && !slices.ContainsFunc(inUse, func(u string) bool { return strings.HasPrefix(u, o.Path) }) {
						t.Fatalf("%s is deleted, the older %s is kept", d.Path, o.Path)
					}
				}
			} else if d.Complete {
				left++
			}
		}
		complete := 0
		for _, d := range all {
			if d.Complete {
				complete++
			}
		}
		if want := min(keep, complete); keep > 0 && left < want {
			t.Fatalf("%d savepoints are left, want %d", left, want)
		}
		if keep == 0 && len(gone) > 0 {
			t.Fatalf("%v deleted", gone)
		}
	})
}
