package activities

import (
	"fmt"
	"slices"

	"flinkscaler/core"
)

// unfitRequirements judges what is in force and what would be: the list must be
// complete, nobody else's, and break no FORWARD edge.
func unfitRequirements(held core.Requirements, t core.Topology, in RescaleInput) (core.Reason, string) {
	if len(held) != len(in.Wanted) {
		return core.ReasonVertexChanged, fmt.Sprintf("Flink holds requirements for %d vertices, the decision knows %d", len(held), len(in.Wanted))
	}
	for _, b := range held {
		if _, ok := core.FindSize(in.Wanted, b.ID); !ok {
			return core.ReasonVertexChanged, fmt.Sprintf("Flink holds requirements for vertex %s, which the decision does not know", b.ID)
		}
	}
	if len(in.Seen) > 0 && !slices.Equal(held, in.Seen) {
		return core.ReasonForeignWriter, "somebody changed what is wanted of Flink since it was decided: " + in.Seen.Difference(held, titles(t))
	}
	return breaksForward(t, in.Wanted)
}

// mostTitle bounds the name of a vertex in a sentence.
const mostTitle = 40

func titles(t core.Topology) func(string) string {
	return func(id string) string { return t.Title(id, mostTitle) }
}

// breaksForward is true where vertices that run at one size and are joined by a
// FORWARD edge would come to run at two: Flink then refuses, or sends what used
// to stay in one task over the network.
func breaksForward(t core.Topology, wanted []core.VertexSize) (core.Reason, string) {
	for _, v := range t.Vertices {
		for _, e := range v.Inputs {
			from, ok := t.Find(e.From)
			if !ok || e.Ship != core.ShipForward || from.Parallelism != v.Parallelism {
				continue
			}
			a, _ := core.FindSize(wanted, from.ID)
			b, _ := core.FindSize(wanted, v.ID)
			if a != b {
				return core.ReasonForward, fmt.Sprintf("%s would run at %d and %s at %d, but a FORWARD edge joins them", t.Title(from.ID, mostTitle), a, t.Title(v.ID, mostTitle), b)
			}
		}
	}
	return "", ""
}

// tooFewSlots forbids a change for which no single slot can be had: it would
// restart nothing and only leave a wish behind. Where some can be had it goes
// on, and what is missing is told with the outcome. A cluster that starts
// TaskManagers by itself is only asked, and so is any where the policy says that
// something else does; an operator's order is written as it is,
// Flink obeys it when slots come.
func tooFewSlots(s core.Slots, t core.Topology, in RescaleInput) (core.Reason, string) {
	held, need := t.SlotsByGroup(t.Sizes()), t.SlotsByGroup(in.Wanted)
	more, returned := 0, 0
	for group, n := range need {
		if n >= held[group] {
			more += n - held[group]
		} else {
			returned += held[group] - n
		}
	}
	if s.Elastic || more <= s.Free+returned {
		return "", ""
	}
	note := fmt.Sprintf("the wanted size needs %d more slots, %d of %d are free", more, s.Free, s.Total)
	if s.Free+returned == 0 && !ordered(in.Cause) && !in.NoSlots {
		return core.ReasonNoSlots, note
	}
	return "", note
}
