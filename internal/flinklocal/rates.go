package flinklocal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"
	"sync"
	"time"
)

// RateFile steers the test job's arrivals: a file of lines "epochMillis recordsPerSecond". It only ever grows, since
// the job derives from it how many records have arrived so far: with a line less, arrivals would fall below what the
// job has read, and it would stay silent until they catch up.
type RateFile struct {
	path string

	mu   sync.Mutex
	last int64 // milliseconds of the last line
}

// NewRateFile opens a rate file. A new one has no arrivals until Set; one that is there is carried on.
func NewRateFile(path string) (*RateFile, error) {
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open rate file: %w", err)
	}
	last, err := lastMillis(content)
	if err != nil {
		return nil, fmt.Errorf("open rate file %s: %w", path, err)
	}
	return &RateFile{path: path, last: last}, nil
}

func lastMillis(content []byte) (int64, error) {
	lines := bytes.Split(bytes.TrimSpace(content), []byte("\n"))
	fields := bytes.Fields(lines[len(lines)-1])
	if len(fields) == 0 {
		return 0, nil
	}
	return strconv.ParseInt(string(fields[0]), 10, 64)
}

// Path is the file, for the job's --rate-file.
func (f *RateFile) Path() string { return f.path }

// Set makes records arrive at so many per second from now on. The job sees it within half a second, and counts from now.
func (f *RateFile) Set(perSecond float64) error {
	if !(perSecond >= 0) || math.IsInf(perSecond, 0) { // written so that NaN is refused too
		return fmt.Errorf("set rate: %v is not a rate", perSecond)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	// A clock that was set back must not write a line that lies before the last one.
	now := max(time.Now().UnixMilli(), f.last)
	line := strconv.FormatInt(now, 10) + " " + strconv.FormatFloat(perSecond, 'f', -1, 64) + "\n"
	if err := appendTo(f.path, line); err != nil {
		return fmt.Errorf("set rate: %w", err)
	}
	f.last = now
	return nil
}

// appendTo writes the line with one call, so that no reader sees half of it for long.
func appendTo(path, line string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(line)
	return errors.Join(err, file.Close())
}
