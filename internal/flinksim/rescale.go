package flinksim

import (
	"strconv"
	"time"
)

// rescale is one entry of 2.3's rescale history.
type rescale struct {
	uuid, requirements string
	start, end         time.Time
	terminal, reason   string
	cause              string
	before, after      []int
	wanted             []bounds
	stopped            time.Time
}

// openRescale begins an entry unless one is open.
func (j *job) openRescale(now time.Time, cause string) {
	if !j.c.opt.is23() || j.c.opt.RescaleHistory <= 0 {
		return
	}
	if n := len(j.rescales); n > 0 && j.rescales[n-1].end.IsZero() {
		return
	}
	n := strconv.Itoa(len(j.rescales)) + now.String()
	j.rescales = append(j.rescales, &rescale{
		uuid: hexID("rescale", j.spec.ID, n), requirements: hexID("requirements", j.spec.ID, n),
		start: now, cause: cause, before: j.sizes(), wanted: append([]bounds(nil), j.wanted...),
	})
	if over := len(j.rescales) - j.c.opt.RescaleHistory; over > 0 {
		j.rescales = j.rescales[over:]
	}
}

// closeRescale ends the entry that is open, if one is.
func (j *job) closeRescale(now time.Time, terminal, reason string, before []int) {
	n := len(j.rescales)
	if n == 0 || !j.rescales[n-1].end.IsZero() {
		return
	}
	r := j.rescales[n-1]
	r.end, r.terminal, r.reason = now, terminal, reason
	r.before, r.after = before, j.sizes()

}
