package strategy

import (
	"strings"

	"flinkscaler/core"
)

// showAsked has a look show what is wanted of Flink: at first what runs.
func (s *scene) showAsked(x *core.Sample) {
	if s.asks == nil || x.Fault != "" {
		return
	}
	x.Asked = true
	x.Wanted = s.wanted().Against(s.sizes())
}

func (s *scene) wanted() core.Requirements {
	var out core.Requirements
	for _, a := range s.vertices {
		if s.asks[a.ID] == 0 {
			s.asks[a.ID] = a.Parallelism
		}
		out = append(out, core.Bounds{ID: a.ID, Lower: 1, Upper: s.asks[a.ID]})
	}
	return out
}

// ask notes what a rescale leaves wanted of Flink.
func (s *scene) ask(o *core.Outcome) {
	if s.asks == nil || o.Kind == core.Rejected {
		return
	}
	left := o.Wanted
	if o.Kind == core.Undone {
		left = o.From
	}
	for _, v := range left {
		s.asks[v.ID] = v.Parallelism
	}
	o.JobID, o.Wish = s.ctx.JobID, s.wanted()
}

// foreign is another hand that writes "src:5".
func (s *scene) foreign(v string) {
	id, n, _ := strings.Cut(v, ":")
	s.wanted()
	s.asks[id] = int(s.number(n))
	s.resize(id, s.asks[id])
	s.restart(s.now)
}
