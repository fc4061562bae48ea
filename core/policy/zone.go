package policy

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // for machines and images that have no list of zones
)

// parseZone does not take the zone of this machine: a decision must be the same
// on any worker.
func parseZone(text string) (*time.Location, error) {
	name := strings.TrimSpace(text)
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || strings.EqualFold(name, "local") {
		return nil, fmt.Errorf("not a time zone such as Europe/Berlin or UTC")
	}
	return zone, nil
}
