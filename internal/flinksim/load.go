package flinksim

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Load is the rate at which records arrive, by the time since it was set.
type Load interface {
	// Rate gives records per second at d, and until when it stays so: that is
	// after d, or 0 for ever.
	Rate(d time.Duration) (perSecond float64, until time.Duration)
	// String gives the load in the words that ParseLoad reads.
	String() string
}

// Constant is the same rate for ever.
type Constant float64

// Rate gives the rate.
func (c Constant) Rate(time.Duration) (float64, time.Duration) { return float64(c), 0 }

// String gives "const:RATE".
func (c Constant) String() string { return "const:" + number(float64(c)) }

// Step is a rate for a while.
type Step struct {
	Rate float64
	For  time.Duration
}

// Steps are rates one after the other; the last one stays for ever.
type Steps []Step

// Rate gives the rate of the step at d.
func (s Steps) Rate(d time.Duration) (float64, time.Duration) {
	if len(s) == 0 {
		return 0, 0
	}
	var end time.Duration
	for _, st := range s[:len(s)-1] {
		end += st.For
		if d < end {
			return st.Rate, end
		}
	}
	return s[len(s)-1].Rate, 0
}

// String gives "steps:RATExFOR,...,RATE".
func (s Steps) String() string {
	parts := make([]string, 0, len(s))
	for i, st := range s {
		p := number(st.Rate)
		if i < len(s)-1 {
			p += "x" + st.For.String()
		}
		parts = append(parts, p)
	}
	return "steps:" + strings.Join(parts, ",")
}

// Wave is a sine between Low and High that begins in the middle, going up.
// Phase moves its begin, as a share of the period.
type Wave struct {
	Low, High float64
	Period    time.Duration
	Phase     float64
}

// waveCells is into how many pieces of one rate a period is cut.
const waveCells = 120

// Rate gives the rate in the middle of the cell that holds d.
func (w Wave) Rate(d time.Duration) (float64, time.Duration) {
	cell := w.Period / waveCells
	if cell <= 0 {
		return (w.Low + w.High) / 2, 0
	}
	k := d / cell
	at := (float64(k)+0.5)/waveCells + w.Phase
	mid, half := (w.High+w.Low)/2, (w.High-w.Low)/2
	return math.Max(0, mid+half*math.Sin(2*math.Pi*at)), (k + 1) * cell
}

// String gives "wave:LOW..HIGH@PERIOD".
func (w Wave) String() string {
	s := fmt.Sprintf("wave:%s..%s@%s", number(w.Low), number(w.High), w.Period)
	if w.Phase != 0 {
		s += "+" + number(w.Phase)
	}
	return s
}

// Series is a list of rates, each for Every; after the last it begins anew.
type Series struct {
	Every time.Duration
	Rates []float64
}

// Rate gives the rate of the piece at d.
func (s Series) Rate(d time.Duration) (float64, time.Duration) {
	if len(s.Rates) == 0 || s.Every <= 0 {
		return 0, 0
	}
	k := d / s.Every
	return s.Rates[int(k)%len(s.Rates)], (k + 1) * s.Every
}

// String gives "list:EVERY:RATE,RATE,...".
func (s Series) String() string {
	parts := make([]string, 0, len(s.Rates))
	for _, r := range s.Rates {
		parts = append(parts, number(r))
	}
	return "list:" + s.Every.String() + ":" + strings.Join(parts, ",")
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// ParseLoad reads "1000", "const:1000", "steps:300x30s,2500x3m,700",
// "wave:500..4500@2m", "wave:500..4500@2m+0.25" or "list:10s:100,200,300".
func ParseLoad(s string) (Load, error) {
	kind, rest, found := strings.Cut(strings.TrimSpace(s), ":")
	if !found {
		kind, rest = "const", kind
	}
	var l Load
	var err error
	switch kind {
	case "const":
		var r float64
		r, err = parseRate(rest)
		l = Constant(r)
	case "steps":
		l, err = parseSteps(rest)
	case "wave":
		l, err = parseWave(rest)
	case "list":
		l, err = parseSeries(rest)
	default:
		return nil, fmt.Errorf("load %q: unknown kind %q, known are const, steps, wave, list", s, kind)
	}
	if err != nil {
		return nil, fmt.Errorf("load %q: %w", s, err)
	}
	return l, nil
}

func parseRate(s string) (float64, error) {
	r, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || r < 0 || math.IsInf(r, 0) || math.IsNaN(r) {
		return 0, fmt.Errorf("rate %q is not a number of 0 or more", s)
	}
	return r, nil
}

func parsePeriod(s string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(s))
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("duration %q is not one above 0, such as 30s", s)
	}
	return d, nil
}

func parseSteps(s string) (Load, error) {
	var out Steps
	parts := strings.Split(s, ",")
	for i, p := range parts {
		rate, dur, timed := strings.Cut(p, "x")
		r, err := parseRate(rate)
		if err != nil {
			return nil, err
		}
		st := Step{Rate: r}
		if timed {
			if st.For, err = parsePeriod(dur); err != nil {
				return nil, err
			}
		} else if i < len(parts)-1 {
			return nil, fmt.Errorf("step %q says no duration, only the last may", p)
		}
		out = append(out, st)
	}
	return out, nil
}

func parseWave(s string) (Load, error) {
	bounds, period, ok := strings.Cut(s, "@")
	low, high, ok2 := strings.Cut(bounds, "..")
	if !ok || !ok2 {
		return nil, fmt.Errorf("want LOW..HIGH@PERIOD")
	}
	var w Wave
	var err error
	period, phase, hasPhase := strings.Cut(period, "+")
	if hasPhase {
		if w.Phase, err = parseRate(phase); err != nil {
			return nil, err
		}
	}
	if w.Low, err = parseRate(low); err != nil {
		return nil, err
	}
	if w.High, err = parseRate(high); err != nil {
		return nil, err
	}
	w.Period, err = parsePeriod(period)
	return w, err
}

func parseSeries(s string) (Load, error) {
	every, rates, ok := strings.Cut(s, ":")
	if !ok {
		return nil, fmt.Errorf("want EVERY:RATE,RATE and so on")
	}
	d, err := parsePeriod(every)
	if err != nil {
		return nil, err
	}
	out := Series{Every: d}
	for _, p := range strings.Split(rates, ",") {
		r, err := parseRate(p)
		if err != nil {
			return nil, err
		}
		out.Rates = append(out.Rates, r)
	}
	return out, nil
}
