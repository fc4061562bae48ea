package core

// Turn is a job's part in the slots that the jobs of its cluster share.
type Turn struct {
	// Granted is how many slots it may hold in all by a lease, 0 without one.
	Granted int
	// Standing says for people where it waits, and why; empty while it does not.
	Standing string
}

// SlotsByGroup counts the slots that sizes take: each slot sharing group as many
// as its largest vertex.
func (t Topology) SlotsByGroup(sizes []VertexSize) map[string]int {
	out := map[string]int{}
	for _, v := range t.Vertices {
		p, _ := FindSize(sizes, v.ID)
		out[v.SlotGroup] = max(out[v.SlotGroup], p)
	}
	return out
}

// Slots is how many slots sizes take.
func (t Topology) Slots(sizes []VertexSize) int {
	n := 0
	for _, slots := range t.SlotsByGroup(sizes) {
		n += slots
	}
	return n
}

// SlotsHeld is how many slots the job takes. Of a vertex counts what is asked of
// Flink where that is more than what runs: Flink goes there as soon as it can,
// and asks nobody.
func (c JobContext) SlotsHeld() int {
	sizes := c.Topology.Sizes()
	if n := len(c.Window); n > 0 && c.Window[n-1].Asked {
		for i, b := range Beside(c.Window[n-1].Wanted, sizes) {
			sizes[i].Parallelism = max(sizes[i].Parallelism, b.Upper)
		}
	}
	return c.Topology.Slots(sizes)
}
