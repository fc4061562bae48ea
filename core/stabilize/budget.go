package stabilize

import (
	"fmt"
	"slices"
	"time"

	"flinkscaler/core"
	"flinkscaler/core/policy"
)

// budgetDay is the time over which rescales are counted.
const budgetDay = 24 * time.Hour

// mostSpent bounds what is remembered of rescales (I10): more than one every ten
// minutes of a day, which no budget allows.
const mostSpent = 144

// Spend takes the outcome of a rescale into the budget. One that was rejected
// before anything was written cost nothing and is not counted.
func Spend(m core.Memory, o core.Outcome) core.Memory {
	if o.WrittenAt.IsZero() && o.Kind == core.Rejected {
		return m
	}
	s := core.Spent{At: o.EndedAt, Failed: o.Kind != core.Applied && o.Kind != core.Partial}
	if took := o.RunningAt.Sub(o.WrittenAt); !o.WrittenAt.IsZero() && took > 0 {
		s.Took = min(took, longestRestart)
	}
	out := append(slices.Clone(m.Spent), s)
	m.Spent = out[max(0, len(out)-mostSpent):]
	return m
}

// TrimSpent drops rescales from before the day that is counted. Those in a row
// that did not succeed stay, since they keep the breaker open.
func TrimSpent(spent []core.Spent, now time.Time) []core.Spent {
	row := failuresInARow(spent)
	from := slices.IndexFunc(spent, func(s core.Spent) bool { return now.Sub(s.At) < budgetDay })
	if from < 0 {
		from = len(spent)
	}
	from = min(from, len(spent)-row)
	if from >= len(spent) {
		return nil
	}
	return spent[from:]
}

// Over says why no rescale may begin now, empty when one may: the budget of a
// day is spent, counted in rescales or in time that the job did not run.
func Over(spent []core.Spent, now time.Time, p policy.Policy) string {
	count, down := 0, time.Duration(0)
	var oldest time.Time
	for _, s := range spent {
		if now.Sub(s.At) >= budgetDay {
			continue
		}
		if count == 0 {
			oldest = s.At
		}
		count++
		down += s.Took
	}
	until := ""
	if count > 0 {
		until = fmt.Sprintf("; the oldest of them is forgotten at %s", oldest.Add(budgetDay).UTC().Format("2006-01-02 15:04 UTC"))
	}
	switch {
	case p.BudgetCount > 0 && count >= p.BudgetCount:
		return fmt.Sprintf("%d rescales in 24 hours are the budget, and %d were made%s", p.BudgetCount, count, until)
	case p.BudgetDowntime > 0 && down >= p.BudgetDowntime:
		return fmt.Sprintf("%s without running in 24 hours are the budget, and %d rescales took %s%s", policy.FormatDuration(p.BudgetDowntime), count, down.Round(time.Second), until)
	}
	return ""
}

// Broken says why the breaker is open, empty when it is not: so many rescales
// in a row did not succeed that the next would not either. since is when the
// last of them ended.
func Broken(spent []core.Spent, now time.Time, p policy.Policy) (note string, since time.Time) {
	n := failuresInARow(spent)
	if p.BreakerFailures <= 0 || n < p.BreakerFailures {
		return "", time.Time{}
	}
	last := spent[len(spent)-1].At
	if p.BreakerReset > 0 && now.Sub(last) >= p.BreakerReset {
		return "", time.Time{}
	}
	note = fmt.Sprintf("%d rescales in a row did not succeed", n)
	if p.BreakerReset > 0 {
		note += fmt.Sprintf("; one is tried again at %s, or on an operator's override", last.Add(p.BreakerReset).UTC().Format("2006-01-02 15:04 UTC"))
	} else {
		note += "; none is tried again but on an operator's override"
	}
	return note, last
}

// failuresInARow counts the newest rescales that did not succeed.
func failuresInARow(spent []core.Spent) int {
	n := 0
	for i := len(spent) - 1; i >= 0 && spent[i].Failed; i-- {
		n++
	}
	return n
}

// Over says why no rescale may begin now.
func (b *Book) Over() string { return Over(b.memory.Spent, b.now, b.p) }

// Broken says why the breaker is open, and since when.
func (b *Book) Broken() (string, time.Time) { return Broken(b.memory.Spent, b.now, b.p) }
