package k8s

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"flinkscaler/core"
)

// newsFor is how long a report of the operator's autoscaler counts: it repeats
// what still holds at this interval.
const newsFor = 30 * time.Minute

// operatorSigns is all that tells of the operator's own autoscaler. No sign is
// enough alone: it may be switched on where nobody outside the operator can see
// it, and what it left behind outlives it for a while.
type operatorSigns struct {
	name string
	// options are those of the object, the session cluster's beneath.
	options map[string]string
	// stored is the data of its ConfigMap.
	stored map[string]string
	// deployed are the sizes that the operator took over last, wanted those of
	// the object. known is false while the operator has not seen the object as it
	// is now.
	deployed, wanted map[string]string
	known            bool
	// reports are the texts of its recent reports.
	reports []string
}

// enabled reads whether the autoscaler is switched on, in either spelling; set is
// false where the object does not say.
func (s operatorSigns) enabled() (on, set bool) {
	text := s.autoscalerOption("enabled")
	return strings.EqualFold(text, "true"), text != ""
}

// reportsOnly is true where it is told to change nothing.
func (s operatorSigns) reportsOnly() bool {
	return strings.EqualFold(s.autoscalerOption("scaling.enabled"), "false")
}

func (s operatorSigns) autoscalerOption(key string) string {
	if text := s.options["job.autoscaler."+key]; text != "" {
		return text
	}
	return s.options["kubernetes.operator.job.autoscaler."+key]
}

// KindOperatorAutoscaler is the Rival.Kind of the Flink operator's autoscaler.
const KindOperatorAutoscaler = "FlinkOperatorAutoscaler"

// handOver is how to switch it off without a jump: once it is off, the sizes in
// the object count again at once, however old they are.
const handOver = `to hand the job over, write the sizes that run now into ` + overridesKey + ` of the resource and job.autoscaler.enabled: "false" in one patch, else the job jumps to the old sizes that the resource holds`

// rivals judges the signs. An autoscaler that is switched off explicitly still
// counts while its sizes are stored, or are in force: the operator has not caught
// up yet.
func (s operatorSigns) rivals() []core.Rival {
	on, set := s.enabled()
	switch {
	case on && s.reportsOnly() && s.stored["parallelismOverrides"] == "":
		return s.rival(true, "the operator's own autoscaler is on and only reports (job.autoscaler.scaling.enabled is false): switch it off, so that only one reports")
	case on && s.reportsOnly():
		return s.rival(false, "the operator's own autoscaler only reports, but sizes that it stored before are still in force and beat those of the resource: "+handOver)
	case on:
		return s.rival(false, "the operator's own autoscaler is on (job.autoscaler.enabled) and its sizes beat those of the resource: "+handOver)
	case set && len(s.stored) > 0:
		return s.rival(false, "the operator's own autoscaler is switched off, but what it stored in ConfigMap "+storeName(s.name)+" is still there: see whether the operator runs")
	case len(s.stored) > 0:
		return s.rival(false, "the operator's own autoscaler is on by the operator's configuration, as its data in ConfigMap "+storeName(s.name)+" show: "+handOver)
	case s.known && !maps.Equal(s.deployed, s.wanted):
		return s.rival(false, "the operator runs the job at other sizes than the resource asks for, as its own autoscaler makes it do: "+handOver)
	case !set && s.reported():
		return s.rival(false, "the operator's own autoscaler reported a change of size a short while ago: "+handOver)
	case !set && len(s.reports) > 0:
		return s.rival(true, "the operator's own autoscaler reports what it would change: switch it off, so that only one reports")
	}
	return nil
}

func (s operatorSigns) rival(warning bool, what string) []core.Rival {
	return []core.Rival{{Kind: KindOperatorAutoscaler, Name: s.name, What: what, Warning: warning}}
}

// reported is true where it reported a change that it made.
func (s operatorSigns) reported() bool {
	for _, text := range s.reports {
		if !advises(text) {
			return true
		}
	}
	return false
}

// advises is true for a report of what would be done: these are how such reports
// begin, up to and since release 1.8 of the operator.
func advises(report string) bool {
	return strings.HasPrefix(report, "Recommended parallelism change") || strings.HasPrefix(report, "Scaling execution disabled")
}

// storeName is the ConfigMap in which the operator's autoscaler keeps its state.
// The operator makes an empty one even where the autoscaler is off.
func storeName(name string) string { return "autoscaler-" + name }

func (v *view) ofFlinkOperator() bool {
	return v.target.Kind == core.KindFlinkDeployment || v.target.Kind == core.KindFlinkSessionJob
}

func (v *view) operatorScaler(ctx context.Context, now time.Time) ([]core.Rival, error) {
	if !v.ofFlinkOperator() {
		return nil, nil
	}
	signs := operatorSigns{name: v.object.GetName(), options: v.options(), wanted: overridesOf(flinkOptions(v.object))}
	signs.deployed, signs.known = deployedOverrides(v.object)
	var out []core.Rival
	store, err := v.cluster.get(ctx, configMaps(), v.target.Namespace, storeName(signs.name))
	switch {
	case err == nil:
		signs.stored = store.options("data")
	case errors.Is(err, core.ErrUnauthorized):
		out = append(out, unseen("configmaps", "an autoscaler that is on by the operator's own configuration"))
	case !errors.Is(err, core.ErrNotFound):
		return nil, err
	}
	told, err := v.cluster.shared(ctx, question{resource: events(), namespace: v.target.Namespace, about: string(v.object.GetUID())})
	if err != nil {
		return nil, err
	}
	if told.hidden {
		out = append(out, unseen("events.events.k8s.io", "what the operator's autoscaler reports"))
	}
	signs.reports = reports(told.found, now.Add(-newsFor))
	return append(out, signs.rivals()...), nil
}

// reports gives the texts that an autoscaler other than this one has reported
// since.
func reports(events []*object, since time.Time) []string {
	var out []string
	for _, e := range events {
		if e.text("reason") == "ScalingReport" && e.text("reportingController") != FieldManager && !lastSeen(e).Before(since) {
			out = append(out, e.text("note"))
		}
	}
	return out
}

// overridesOf reads the sizes of single vertices out of options, which hold them
// as one text, or one key each where they were nested. Sizes stay texts: they are
// compared, not used.
func overridesOf(options map[string]string) map[string]string {
	out := map[string]string{}
	for _, entry := range strings.Split(options[overridesKey], ",") {
		if id, size, ok := strings.Cut(entry, ":"); ok {
			out[strings.TrimSpace(id)] = strings.TrimSpace(size)
		}
	}
	for key, size := range options {
		if id, ok := strings.CutPrefix(key, overridesKey+"."); ok {
			out[id] = size
		}
	}
	return out
}

// deployedOverrides are the sizes of single vertices in what the operator
// reconciled last; known is false while that is not the object as it is now: a
// change is on its way, was rolled back, or the text cannot be read.
func deployedOverrides(o *object) (sizes map[string]string, known bool) {
	if o.text("status", "reconciliationStatus", "state") != "DEPLOYED" {
		return nil, false
	}
	var last map[string]any
	if err := json.Unmarshal([]byte(o.text("status", "reconciliationStatus", "lastReconciledSpec")), &last); err != nil {
		return nil, false
	}
	spec := &object{&unstructured.Unstructured{Object: last}}
	seen := o.text("status", "observedGeneration")
	if seen == "" {
		// Up to release 1.7 it is kept inside.
		seen = spec.text("resource_metadata", "metadata", "generation")
	}
	return overridesOf(flinkOptions(spec)), seen == o.text("metadata", "generation")
}
