package policy

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// draft is a Policy while it is being decoded: what derives from other keys is
// still open.
type draft struct {
	Policy

	boundary float64
	max, min *float64
	// mode is the text of the newer alignment key, adjust what the older says.
	mode   string
	adjust Alignment
	// evaluators and executors are names, in listed order.
	evaluators, executors []string
}

// row is one key: its place in the reference and how its text is read.
type row struct {
	name    string // without prefix
	group   string
	typ     string
	def     string // "" when the key has no default of its own
	rng     string
	meaning string
	// old are other names without prefix, still accepted under both prefixes.
	old []string
	// ours is true when the Java autoscaler does not know the key.
	ours bool
	// differs says what is not as in the Java autoscaler; it is shown with a
	// value that is not the default.
	differs string
	// ignored says why the key has no effect.
	ignored string
	// family is true when the name stands for all keys that begin with it.
	family bool
	set    func(*draft, string) error
}

func (r row) key() string { return Prefix + r.name }

// spellings are all ways to write the key, the one that wins first.
func (r row) spellings() []string {
	out := []string{Prefix + r.name, OldPrefix + r.name}
	for _, o := range r.old {
		out = append(out, Prefix+o, OldPrefix+o)
	}
	return out
}

func (r row) info() KeyInfo {
	k := KeyInfo{
		Key: r.key(), Group: r.group, Type: r.typ, Default: r.def, Range: r.rng, Meaning: r.meaning,
		Aliases: r.spellings()[1:], Java: !r.ours, Differs: r.differs, Ignored: r.ignored,
	}
	if r.family {
		k.Key += "<name>..."
		k.Aliases = nil
	}
	return k
}

const (
	longest = time.Duration(math.MaxInt64)
	manyInt = math.MaxInt32
)

// known is the table with what is derived from it once. Resolving runs in every
// cycle of every job and must not build it again.
var known = index(table()) //nolint:gochecknoglobals // a constant table

// catalog is the table, ready for use.
type catalog struct {
	rows []row
	// keys holds each row's key with the prefix.
	keys []string
	// spots finds a row by any spelling, byName by its name.
	spots  map[string]spot
	byName map[string]int
	// families are the beginnings of parameters of plugins, without prefix.
	families []string
	// defaults is what holds where nobody says anything.
	defaults draft
}

// spot is a row and how good a spelling of it is; 0 is the best.
type spot struct{ row, rank int }

func index(rows []row) catalog {
	c := catalog{rows: rows, spots: map[string]spot{}, byName: map[string]int{}, defaults: draft{Policy: Policy{Zone: time.UTC}}}
	for i, r := range rows {
		c.keys = append(c.keys, r.key())
		if r.family {
			c.families = append(c.families, r.name)
			continue
		}
		c.byName[r.name] = i
		for rank, s := range r.spellings() {
			c.spots[s] = spot{i, rank}
		}
		if r.def != "" && r.ignored == "" {
			// A test sees to it that the defaults are good.
			_ = r.set(&c.defaults, r.def)
		}
	}
	return c
}

// table is the one list of keys, sorted by name.
func table() []row {
	rows := slices.Concat(
		group("What decides", ruleRows()), group("Evidence", evidenceRows()), group("When a vertex is resized", boundRows()),
		group("Sizes", sizeRows()), group("Alignment", alignRows()), group("Lag and restarts", lagRows()),
		group("Scale-ups that did not help", effectRows()), group("Periods", periodRows()), group("Approval", approvalRows()), group("Memory pressure and quotas", quotaRows()),
		group("Memory tuning", tuningRows()), group("Rescaling", rescaleRows()), group("History and events", historyRows()),
		group("Plugins", pluginRows()), group("Without effect", ignoredRows()))
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.name, b.name) })
	return rows
}

func group(title string, rows []row) []row {
	for i := range rows {
		rows[i].group = title
	}
	return rows
}

// Groups are the titles of keys that belong together, in the order in which an
// operator needs them.
func Groups() []string {
	return []string{
		"What decides", "Evidence", "When a vertex is resized", "Sizes", "Alignment", "Lag and restarts", "Scale-ups that did not help",
		"Periods", "Approval", "Memory pressure and quotas", "Memory tuning", "Rescaling", "History and events", "Plugins", "Without effect",
	}
}

func duration(r row, field func(*draft) *time.Duration, lo, hi time.Duration) row {
	r.typ = "duration"
	r.rng = "at least " + FormatDuration(lo)
	if hi != longest {
		r.rng = FormatDuration(lo) + " to " + FormatDuration(hi)
	}
	r.set = within(r.rng, ParseDuration, func(d *draft, v time.Duration) { *field(d) = v }, lo, hi)
	return r
}

// within is the setter of a value that must lie in a range, whose words are
// given.
func within[T cmp.Ordered](words string, parse func(string) (T, error), put func(*draft, T), lo, hi T) func(*draft, string) error {
	return func(d *draft, text string) error {
		v, err := parse(text)
		if err != nil {
			return err
		}
		if v < lo || v > hi {
			return fmt.Errorf("must be %s", inRange(words))
		}
		put(d, v)
		return nil
	}
}

func number(r row, put func(*draft, float64), lo, hi float64) row {
	r.typ = "number"
	if r.rng == "" {
		r.rng = fmt.Sprintf("at least %g", lo)
		if hi != math.MaxFloat64 {
			r.rng = fmt.Sprintf("%g to %g", lo, hi)
		}
	}
	r.set = within(r.rng, parseFloat, put, lo, hi)
	return r
}

// number of any size: its range is checked only while a feature is on.
func looseNumber(r row, field func(*draft) *float64) row {
	return number(r, func(d *draft, f float64) { *field(d) = f }, -math.MaxFloat64, math.MaxFloat64)
}

func integer(r row, field func(*draft) *int, lo int) row {
	r.typ = "int"
	r.rng = fmt.Sprintf("at least %d", lo)
	r.set = within(r.rng, parseInt, func(d *draft, v int) { *field(d) = v }, lo, manyInt)
	return r
}

func memory(r row, field func(*draft) *int64) row {
	r.typ, r.rng = "memory", "at least 0 bytes"
	r.set = parsed(ParseMemory, field)
	return r
}

// parsed is the setter of a value that needs only to be read.
func parsed[T any](parse func(string) (T, error), field func(*draft) *T) func(*draft, string) error {
	return func(d *draft, text string) error {
		v, err := parse(text)
		if err == nil {
			*field(d) = v
		}
		return err
	}
}

func boolean(r row, field func(*draft) *bool) row {
	r.typ, r.rng = "bool", "true, false"
	r.set = parsed(parseBool, field)
	return r
}

// list is a key with entries; parse keeps their order or not.
func list(r row, parse func(string) ([]string, error), field func(*draft) *[]string) row {
	r.typ, r.rng = "list", "entries separated by ;"
	r.set = parsed(parse, field)
	return r
}

func oneOf[T ~string](r row, field func(*draft) *T, words []T) row {
	all := make([]string, 0, len(words))
	for _, w := range words {
		all = append(all, string(w))
	}
	r.typ, r.rng = "enum", strings.Join(all, ", ")
	r.set = func(d *draft, text string) error {
		for _, w := range words {
			if strings.EqualFold(strings.TrimSpace(text), string(w)) {
				*field(d) = w
				return nil
			}
		}
		return fmt.Errorf("must be one of %s", r.rng)
	}
	return r
}

// inRange puts the word "between" before a range from one number to another.
func inRange(rng string) string {
	if lo, hi, ok := strings.Cut(rng, " to "); ok && !strings.Contains(rng, ",") {
		return "between " + lo + " and " + hi
	}
	return rng
}
