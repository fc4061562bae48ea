package oracle

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"flinkscaler/core/policy"
)

func TestDebug(t *testing.T) {
	if os.Getenv("DBG") == "" {
		t.Skip()
	}
	seed, _ := strconv.Atoi(os.Getenv("SEED"))
	n, _ := strconv.Atoi(os.Getenv("DBG"))
	c := &recorded{Case: Generate(uint64(seed), n)}
	fmt.Println(c.Options)
	for _, v := range c.world.vertices {
		fmt.Println(v.id[:6], v.name, v.parallelism, v.max)
	}
	j, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	if err := playBatch(j, []*recorded{c}); err != nil {
		t.Fatal(err)
	}
	q, _ := strconv.Atoi(os.Getenv("Q"))
	o := NewOurs(c.Options, policy.AllQuirks&^policy.Quirk(q))
	for k, look := range c.looks {
		v := o.Cycle(look)
		d := Differ(c.java[k], v)
		fmt.Println(k, look.Status.Now.Format("15:04:05.000"), look.Status.RunningSince.Format("15:04:05.000"), "pend", look.Pending, "appl", look.Applied, "java", c.java[k].Full, c.java[k].Decided, "ours", v.Full, v.Decided, v.Note, d)
		fmt.Println("    restarts", o.ctx.Memory.Restarts)
		if len(d) > 0 {
			for i := range c.java[k].Vertices {
				fmt.Printf("   %+v\n   %+v\n", c.java[k].Vertices[i], v.Vertices[i])
			}
			break
		}
	}
}
