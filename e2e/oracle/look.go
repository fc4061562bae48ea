package oracle

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Number is a float64 that JSON can carry whatever it is: NaN and the infinities are strings.
type Number float64

// MarshalJSON writes a number, or a string for what is none.
func (n Number) MarshalJSON() ([]byte, error) {
	switch f := float64(n); {
	case math.IsNaN(f):
		return []byte(`"NaN"`), nil
	case math.IsInf(f, 1):
		return []byte(`"Infinity"`), nil
	case math.IsInf(f, -1):
		return []byte(`"-Infinity"`), nil
	default:
		return strconv.AppendFloat(nil, f, 'g', -1, 64), nil
	}
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (n *Number) UnmarshalJSON(b []byte) error {
	text := string(b)
	if len(b) > 0 && b[0] == '"' {
		if err := json.Unmarshal(b, &text); err != nil {
			return err
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("number %s: %w", b, err)
	}
	*n = Number(f)
	return nil
}

// Look is all that Flink shows of a job at one moment: what the Java autoscaler fetches by REST, and what is ours alone.
// Times are ms since 1970.
type Look struct {
	Now int64 `json:"now"`
	// Running is when the job last entered RUNNING. State is what the Java autoscaler is told: CREATED while tasks do
	// not run yet, as its job list does.
	Running      int64             `json:"running"`
	State        string            `json:"state"`
	Vertices     []Vertex          `json:"vertices"`
	JobManager   map[string]string `json:"jm"`
	TaskManagers []Metric          `json:"tm"`

	// Clock is the JobManager's CPU time in ns; Fresh is false when it did not move while we looked.
	Clock float64 `json:"-"`
	Fresh bool    `json:"-"`
}

// Vertex is one vertex in a Look.
type Vertex struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Parallelism int    `json:"p"`
	Max         int    `json:"max"`
	// Group is the number of the slot sharing group, empty on versions that do not tell.
	Group    string `json:"group,omitempty"`
	Finished bool   `json:"finished,omitempty"`
	// Read and Written count records, Complete is Flink's flag of both. Busy is in ms, over all subtasks.
	Read     int64   `json:"read"`
	Written  int64   `json:"written"`
	Complete bool    `json:"complete"`
	Busy     Number  `json:"busy"`
	Inputs   []Input `json:"inputs"`
	// Metrics are those of the subtasks, aggregated; without numbers where only the name matters.
	Metrics []Metric `json:"metrics"`

	// Waiting counts tasks that do not run yet.
	Waiting int `json:"-"`
}

// Input is one edge, seen from its end.
type Input struct {
	ID   string `json:"id"`
	Ship string `json:"ship"`
}

// Metric is one aggregated metric.
type Metric struct {
	ID  string  `json:"id"`
	Min *Number `json:"min,omitempty"`
	Max *Number `json:"max,omitempty"`
	Avg *Number `json:"avg,omitempty"`
	Sum *Number `json:"sum,omitempty"`
}

// metric makes one with numbers.
func metric(id string, least, most, mean, sum float64) Metric {
	lo, hi, avg, all := Number(least), Number(most), Number(mean), Number(sum)
	return Metric{ID: id, Min: &lo, Max: &hi, Avg: &avg, Sum: &all}
}

// Answer is what the Java autoscaler made of one cycle.
type Answer struct {
	Error string `json:"error"`
	// Full is true when its window was full, Samples how many samples it had.
	Full    bool `json:"full"`
	Samples int  `json:"samples"`
	// Decided is true when it changed sizes: Overrides are those of all vertices.
	Decided   bool           `json:"decided"`
	Overrides map[string]int `json:"overrides"`
	// Summary are the vertices that it would change, also when it may not.
	Summary []Change `json:"summary"`
	// Vertices and Global are evaluated metrics by name and field, such as LOAD.average; nil when there was no
	// evaluation.
	Vertices map[string]map[string]Number `json:"vertices"`
	Global   map[string]Number            `json:"global"`
	Events   []Event                      `json:"events"`
}

// Change is one vertex that gets another size.
type Change struct {
	ID   string `json:"id"`
	From int    `json:"from"`
	To   int    `json:"to"`
}

// Event is one event of the Java autoscaler, before repetitions are dropped.
type Event struct {
	Type    string `json:"type"`
	Reason  string `json:"reason"`
	Key     string `json:"key"`
	Message string `json:"message"`
}
