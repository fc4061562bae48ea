package chaos

import (
	"testing"
	"time"

	"flinkscaler/core"
)

const (
	jobA = "orders-1"
	idA  = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	vtx  = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

func at(second int) time.Time { return time.Unix(1_000_000+int64(second), 0) }

func to(upper int) core.Requirements { return core.Requirements{{ID: vtx, Lower: 1, Upper: upper}} }

func runs(p int) []core.VertexSize { return []core.VertexSize{{ID: vtx, Parallelism: p}} }

// sound is a run in which an order was carried out and nothing is wrong.
func sound() Record {
	done := &core.Outcome{Kind: core.Applied, DecisionID: "1-1"}
	return Record{
		Writes:   []Write{{Job: jobA, JobID: idA, At: at(10), Before: to(2), Body: to(1), Status: 200}},
		Asks:     []Ask{{Job: jobA, JobID: idA, Decision: "1-1", Cause: core.ReasonOverride, Wish: to(1), From: at(9), Until: at(12)}},
		Rescales: []Rescale{{Job: jobA, Decision: "1-1", Outcome: done, Status: "Completed"}},
		Orders:   []Order{{Job: jobA, ID: "o-1", Sent: at(5), Parallelism: 1, Had: to(2)}},
		Shown:    []Shown{{jobA, "1-1", true}, {jobA, "1-1", false}},
		Needs:    []Need{{Job: jobA, Since: at(0), Least: map[string]int{vtx: 1}}},
		Ends:     []End{{Job: jobA, Told: runs(1), Runs: runs(1), Last: done}},
	}
}

// TestJudge: each count can be other than 0, and is for its reason alone.
func TestJudge(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason              string
		bend                func(*Record)
		downs, double, lost int
	}{
		"sound": {"nothing is wrong", func(*Record) {}, 0, 0, 0},
		"written again without an effect": {"what is in force already changes nothing", func(r *Record) {
			r.Writes = append(r.Writes, Write{Job: jobA, JobID: idA, At: at(11), Before: to(1), Body: to(1), Status: 200})
		}, 0, 0, 0},
		"a repeat of the network": {"late, but in force already", func(r *Record) {
			r.Writes = append(r.Writes, Write{Job: jobA, JobID: idA, At: at(40), Before: to(1), Body: to(1), Status: 200, Repeat: true})
		}, 0, 0, 0},
		"two effects": {"somebody went back in between, and the decision was written again", func(r *Record) {
			r.Writes = append(r.Writes, Write{Job: jobA, JobID: idA, At: at(11), Before: to(2), Body: to(1), Status: 200})
		}, 0, 1, 0},
		"two effects, unanswered": {"the first write had no answer, but the next look shows that it was taken, and something else was in force before it was sent again", func(r *Record) {
			r.Writes = []Write{
				{Job: jobA, JobID: idA, At: at(10), Before: to(2), Body: to(1)},
				{Job: jobA, JobID: idA, At: at(10), Before: to(1), Body: to(1), Status: 200},
				{Job: jobA, JobID: idA, At: at(11), Before: to(2), Body: to(1), Status: 200},
			}
		}, 0, 1, 0},
		"unanswered and not taken": {"the next look shows that nothing was in force", func(r *Record) {
			r.Writes = append([]Write{{Job: jobA, JobID: idA, At: at(9), Before: to(2), Body: to(1)}}, r.Writes...)
		}, 0, 0, 0},
		"forgotten by Flink": {"a new life of the job: what was asked is gone, and is asked again", func(r *Record) {
			r.Writes = append(r.Writes, Write{Job: jobA, JobID: idA, Life: 1, At: at(11), Before: to(2), Body: to(1), Status: 200})
		}, 0, 0, 0},
		"refused": {"a write that Flink refused has no effect", func(r *Record) {
			r.Writes = append(r.Writes, Write{Job: jobA, JobID: idA, At: at(11), Before: to(2), Body: to(1), Status: 409})
		}, 0, 0, 0},
		"an effect of nobody, up": {"no decision was being applied", func(r *Record) {
			r.Writes = append(r.Writes, Write{Job: jobA, JobID: idA, At: at(30), Before: to(1), Body: to(3), Status: 200})
		}, 0, 1, 0},
		"an effect of nobody, down": {"no decision was being applied, and it makes the job smaller", func(r *Record) {
			r.Writes = append(r.Writes, Write{Job: jobA, JobID: idA, At: at(30), Before: to(4), Body: to(3), Status: 200})
		}, 1, 1, 0},
		"too late": {"a write long after its decision was applied belongs to nobody", func(r *Record) {
			r.Writes[0].At = at(40)
		}, 1, 1, 0},
		"an order that nobody gave": {"the decision says that it obeys", func(r *Record) {
			r.Orders[0].Sent = at(20)
			r.Asks[0].Until = at(25)
		}, 1, 0, 0},
		"another size than ordered": {"the order says 3", func(r *Record) {
			r.Orders[0].Parallelism = 3
		}, 1, 0, 1},
		"a strategy's down": {"the load needs less", func(r *Record) {
			r.Asks[0].Cause, r.Orders = core.ReasonScaleDown, nil
		}, 0, 0, 0},
		"a wrong down": {"the load needs more", func(r *Record) {
			r.Asks[0].Cause, r.Orders = core.ReasonScaleDown, nil
			r.Needs[0].Least[vtx] = 2
		}, 1, 0, 0},
		"a down on the load before": {"it was decided on while the load was low", func(r *Record) {
			r.Asks[0].Cause, r.Orders = core.ReasonScaleDown, nil
			r.Needs = append(r.Needs, Need{Job: jobA, Since: at(8), Least: map[string]int{vtx: 2}})
		}, 0, 0, 0},
		"a down on a load long gone": {"nobody can have seen it any longer", func(r *Record) {
			r.Asks[0].Cause, r.Orders = core.ReasonScaleDown, nil
			r.Needs = []Need{{Job: jobA, Since: at(-1000), Least: map[string]int{vtx: 1}}, {Job: jobA, Since: at(-500), Least: map[string]int{vtx: 2}}}
		}, 1, 0, 0},
		"an undo": {"it goes back whatever the load", func(r *Record) {
			r.Asks[0].Cause, r.Asks[0].Undo, r.Orders = core.ReasonScaleUp, true, nil
			r.Needs[0].Least[vtx] = 2
		}, 0, 0, 0},
		"no outcome": {"the rescale was lost", func(r *Record) {
			r.Rescales[0].Outcome, r.Rescales[0].Status = nil, "Failed"
		}, 0, 0, 1},
		"no known outcome": {"unknown is no outcome", func(r *Record) {
			r.Rescales[0].Outcome = &core.Outcome{Kind: "unknown"}
		}, 0, 0, 1},
		"an outcome that nobody saw": {"the history never showed it", func(r *Record) {
			r.Shown = r.Shown[:1]
		}, 0, 0, 1},
		"a change without a rescale": {"told, and never begun", func(r *Record) {
			r.Shown = append(r.Shown, Shown{jobA, "7-7", true}, Shown{jobA, "7-7", true})
		}, 0, 0, 1},
		"an order without an effect": {"accepted, and never asked of Flink", func(r *Record) {
			r.Orders = append(r.Orders, Order{Job: jobA, ID: "o-2", Sent: at(50), Parallelism: 3, Had: to(1)})
		}, 0, 0, 1},
		"an order with nothing to do": {"Flink held it already", func(r *Record) {
			r.Orders = append(r.Orders, Order{Job: jobA, ID: "o-2", Sent: at(50), Parallelism: 1, Had: to(1)})
		}, 0, 0, 0},
		"an order that an undo obeyed": {"it runs as ordered, and nothing had to be asked", func(r *Record) {
			r.Orders = append(r.Orders, Order{Job: jobA, ID: "o-2", Sent: at(50), Parallelism: 3, Had: to(4)})
			r.Ends = append(r.Ends, End{Job: jobA, At: at(60), Told: runs(3), Runs: runs(3), Last: r.Ends[0].Last})
		}, 0, 0, 0},
		"an order that ran before": {"it ran so before the order, and not after", func(r *Record) {
			r.Orders = append(r.Orders, Order{Job: jobA, ID: "o-2", Sent: at(50), Parallelism: 3, Had: to(4)})
			r.Ends = append(r.Ends, End{Job: jobA, At: at(40), Told: runs(3), Runs: runs(3), Last: r.Ends[0].Last})
		}, 0, 0, 1},
		"an order that was ended": {"an operator ended the workflow before anything came of it", func(r *Record) {
			r.Orders = append(r.Orders, Order{Job: jobA, ID: "o-2", Sent: at(50), Parallelism: 3, Had: to(1), Ended: true})
		}, 0, 0, 0},
		"stuck": {"it did not come to rest", func(r *Record) {
			r.Ends[0].Stuck = "waited for 5 min"
		}, 0, 0, 1},
		"told otherwise": {"Flink shows something else", func(r *Record) {
			r.Ends[0].Runs = runs(2)
		}, 0, 0, 1},
		"no last outcome": {"a job that was rescaled shows one", func(r *Record) {
			r.Ends[0].Last = nil
		}, 0, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := sound()
			tt.bend(&r)
			v := Judge(r)
			if len(v.WrongScaleDowns) != tt.downs || len(v.DoubleRescales) != tt.double || len(v.LostDecisions) != tt.lost {
				t.Errorf("%s: %d wrong scale-downs, %d double rescales, %d lost decisions; want %d, %d, %d\n%+v",
					tt.reason, len(v.WrongScaleDowns), len(v.DoubleRescales), len(v.LostDecisions), tt.downs, tt.double, tt.lost, v)
			}
			if v.Failed() != (tt.downs+tt.double+tt.lost > 0) {
				t.Errorf("%s: failed is %v", tt.reason, v.Failed())
			}
		})
	}
}
