package logging

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"
	"go.temporal.io/sdk/log"
)

// Formats of log lines.
const (
	Human = "human"
	JSON  = "json"
)

// Levels lists the levels, the most talkative first.
func Levels() []string { return []string{"trace", "debug", "info", "warn", "error", "off"} }

// Formats lists the formats.
func Formats() []string { return []string{Human, JSON} }

// Settings are what a logger needs.
type Settings struct {
	// Name is the binary's.
	Name string
	// Level and Format are one of Levels and Formats.
	Level  string
	Format string
	Output io.Writer
}

// Logger is a logger that can also be handed to Temporal.
type Logger struct {
	hclog.Logger
	opts hclog.LoggerOptions
}

// New makes a logger. From the debug level down each line says where in the
// code it was written.
func New(s Settings) (Logger, error) {
	if !slices.Contains(Levels(), s.Level) {
		return Logger{}, fmt.Errorf("log level: must be one of %s, got %q", strings.Join(Levels(), ", "), s.Level)
	}
	if !slices.Contains(Formats(), s.Format) {
		return Logger{}, fmt.Errorf("log format: must be one of %s, got %q", strings.Join(Formats(), ", "), s.Format)
	}
	opts := hclog.LoggerOptions{
		Name: s.Name, Level: hclog.LevelFromString(s.Level), Output: s.Output,
		JSONFormat: s.Format == JSON, Mutex: &sync.Mutex{},
		IncludeLocation: s.Level == "trace" || s.Level == "debug",
	}
	return Logger{Logger: hclog.New(&opts), opts: opts}, nil
}

// Temporal gives the logger in the shape of the SDK's.
func (l Logger) Temporal() log.Logger {
	return forTemporal{l.Named("temporal"), l.opts}
}

// forTemporal adds what hclog does not have under the names that the SDK asks
// for. Without With the SDK joins the pairs itself, line by line; without
// WithCallerSkip every line would seem to come from within the SDK.
type forTemporal struct {
	hclog.Logger
	opts hclog.LoggerOptions
}

var (
	_ log.WithLogger      = forTemporal{}
	_ log.WithSkipCallers = forTemporal{}
)

// With adds pairs to each line.
func (l forTemporal) With(pairs ...any) log.Logger {
	return forTemporal{l.Logger.With(pairs...), l.opts}
}

// WithCallerSkip makes a line's place that of a caller further up. hclog knows
// it only from the start, so a new logger is made; it shares output and lock.
func (l forTemporal) WithCallerSkip(depth int) log.Logger {
	opts := l.opts
	opts.Name = l.Name()
	opts.AdditionalLocationOffset += depth
	return forTemporal{hclog.New(&opts).With(l.ImpliedArgs()...), opts}
}
