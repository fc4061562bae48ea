package reference

import (
	"fmt"

	"flinkscaler/core/policy"
)

// differencesPage is the page of what we do in another way than the Java
// autoscaler, on purpose.
func differencesPage() string {
	p := newPage("Differences to the Java autoscaler")
	p.say("The strategy `flink` is the rule of the Java autoscaler (flink-autoscaler of the Flink Kubernetes operator), with the same keys. " +
		"Below is all that it does in another way, on purpose, compared with release 1.10.0. " +
		"`make e2e-oracle` runs random jobs through that release itself and through ours: with these differences switched off, which only that test can do, " +
		"every rate, threshold, size and decision is the same to the last digit.")
	rows := make([][]string, 0, len(policy.Differences()))
	for _, d := range policy.Differences() {
		rows = append(rows, []string{d.Name, cell(d.Ticket), cell(d.Java), cell(d.Ours)})
	}
	p.table([]string{"what", "ticket of Flink", "release 1.10.0 ...", "ours ..."}, rows)
	p.say(fmt.Sprintf("A ticket is named where Flink's project has changed the matter since, or discusses it. These are %d differences.", len(rows)))
	return p.text()
}
