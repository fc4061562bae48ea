package reference

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"flinkscaler/core/policy"
)

// TestEveryKeyIsOnThePage: no group is forgotten, and no key.
func TestEveryKeyIsOnThePage(t *testing.T) {
	t.Parallel()
	var titles []string
	for _, g := range policyGroups() {
		titles = append(titles, g.title)
	}
	if all := append(titles, "Without effect"); !slices.Equal(all, policy.Groups()) {
		t.Errorf("the page has %q, the keys are in %q", all, policy.Groups())
	}
	text := policyPage()
	for _, k := range policy.Keys() {
		if !strings.Contains(text, "| "+code(k.Key)+" |") {
			t.Errorf("%s is not on the page", k.Key)
		}
	}
}

func TestValuesOfThePageAreRead(t *testing.T) {
	t.Parallel()
	types := map[string]bool{}
	for _, f := range valueForms() {
		types[f.typ] = true
		for _, e := range f.examples {
			if problems := policy.Check(policy.Layer{Name: "page", Values: map[string]string{policy.Prefix + f.key: e}}); len(problems) > 0 {
				t.Errorf("%s: %v", f.typ, problems)
			}
		}
		if i := slices.IndexFunc(policy.Keys(), func(k policy.KeyInfo) bool { return k.Key == policy.Prefix+f.key }); i < 0 || policy.Keys()[i].Type != f.typ {
			t.Errorf("%s is no key of type %s", f.key, f.typ)
		}
	}
	for _, k := range policy.Keys() {
		if !types[k.Type] && k.Type != "text" {
			t.Errorf("the page does not say how a %s is written, as %s has", k.Type, k.Key)
		}
	}
}

func TestPeriodsOfThePageHold(t *testing.T) {
	t.Parallel()
	moment := func(text string) time.Time {
		m, err := time.Parse(time.DateTime, text)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, e := range append(periodExamples(), periodExample{"0 0 8 * * ?", "", "2026-03-02 08:00:00", "2026-03-02 08:00:01"},
		periodExample{"* * 8 * * ?", "", "2026-03-02 08:59:59", "2026-03-02 09:00:00"}) {
		p, err := policy.ParsePeriod(e.text)
		if err != nil {
			t.Error(err)
			continue
		}
		if !p.Contains(moment(e.in), time.UTC) || p.Contains(moment(e.out), time.UTC) {
			t.Errorf("%s: holds at %s: %v, at %s: %v; want true and false", e.text, e.in, p.Contains(moment(e.in), time.UTC), e.out, p.Contains(moment(e.out), time.UTC))
		}
	}
}

func TestScheduleOfThePageIsRead(t *testing.T) {
	t.Parallel()
	values := map[string]string{}
	if err := yaml.UnmarshalStrict([]byte(scheduleExample), &values); err != nil {
		t.Fatal(err)
	}
	p, _, problems := policy.Resolve([]policy.Layer{{Name: "page", Values: values}})
	if len(problems) > 0 || len(p.Floors) != 2 || p.FloorLead != 20*time.Minute {
		t.Errorf("%+v, problems %v", p.Floors, problems)
	}
}
