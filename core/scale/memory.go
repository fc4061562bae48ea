package scale

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"flinkscaler/core/policy"
)

// Options of Flink that divide a TaskManager's memory up.
const (
	optFlink            = "taskmanager.memory.flink.size"
	optFrameworkHeap    = "taskmanager.memory.framework.heap.size"
	optFrameworkOffHeap = "taskmanager.memory.framework.off-heap.size"
	optTaskHeap         = "taskmanager.memory.task.heap.size"
	optTaskOffHeap      = "taskmanager.memory.task.off-heap.size"
	optManaged          = "taskmanager.memory.managed.size"
	optManagedOld       = "taskmanager.memory.size"
	optManagedFraction  = "taskmanager.memory.managed.fraction"
	optNetworkMin       = "taskmanager.memory.network.min"
	optNetworkMax       = "taskmanager.memory.network.max"
	optNetworkFraction  = "taskmanager.memory.network.fraction"
	optMetaspace        = "taskmanager.memory.jvm-metaspace.size"
	optOverheadMin      = "taskmanager.memory.jvm-overhead.min"
	optOverheadMax      = "taskmanager.memory.jvm-overhead.max"
	optOverheadFraction = "taskmanager.memory.jvm-overhead.fraction"
)

const (
	mib       = int64(1) << 20
	unlimited = math.MaxInt64
	// mostMemory keeps sums of a few sizes within int64; no machine has so much.
	mostMemory = int64(1) << 56
)

// tmMemory is how Flink divides a TaskManager's memory up, in bytes.
type tmMemory struct {
	frameworkHeap, frameworkOffHeap int64
	taskHeap, taskOffHeap           int64
	managed, network                int64
	metaspace, overhead             int64
}

func (m tmMemory) heap() int64 { return m.frameworkHeap + m.taskHeap }

// flink is all but what the JVM itself needs.
func (m tmMemory) flink() int64 {
	return m.heap() + m.frameworkOffHeap + m.taskOffHeap + m.managed + m.network
}

func (m tmMemory) process() int64 { return m.flink() + m.metaspace + m.overhead }

// sharing is a part that is a fraction of a whole, within limits.
type sharing struct {
	least, most int64
	fraction    float64
}

// of gives the part of a whole.
func (s sharing) of(whole int64) int64 { return s.limit(times(whole, s.fraction)) }

// beside gives the part where rest is what the whole has without it.
func (s sharing) beside(rest int64) int64 { return s.limit(times(rest, s.fraction/(1-s.fraction))) }

func (s sharing) limit(n int64) int64 { return max(s.least, min(n, s.most)) }

// times is n * f rounded down, f being taken for the decimal number that it
// prints as: Flink multiplies so.
func times(n int64, f float64) int64 {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'f', -1, 64))
	if !ok {
		return 0
	}
	r.Mul(r, new(big.Rat).SetInt64(n))
	q := new(big.Int).Quo(r.Num(), r.Denom())
	if !q.IsInt64() {
		return unlimited
	}
	return q.Int64()
}

// options reads Flink's options and keeps what is wrong with them.
type options struct {
	config map[string]string
	err    error
}

func (o *options) has(keys ...string) bool {
	for _, k := range keys {
		if _, ok := o.config[k]; ok {
			return true
		}
	}
	return false
}

// size reads the first option that is there.
func (o *options) size(otherwise int64, keys ...string) int64 {
	for _, k := range keys {
		text, ok := o.config[k]
		if !ok {
			continue
		}
		n, err := policy.ParseMemory(text)
		if err == nil && n > mostMemory {
			err = errors.New("too large for a TaskManager")
		}
		if err != nil {
			o.err = errors.Join(o.err, fmt.Errorf("%s: %w", k, err))
		}
		return n
	}
	return otherwise
}

// count reads a number of things, at least 0.
func (o *options) count(otherwise int64, key string) int64 {
	text, ok := o.config[key]
	if !ok {
		return otherwise
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 32)
	if err != nil || n < 0 {
		o.err = errors.Join(o.err, fmt.Errorf("%s: not a whole number", key))
		return 0
	}
	return n
}

// sharing reads a fraction and its limits. Flink keeps fractions in 32 bits,
// which shows in the bytes.
func (o *options) sharing(otherwise float32, key string, least, most int64) sharing {
	f := otherwise
	if text, ok := o.config[key]; ok {
		x, err := strconv.ParseFloat(strings.TrimSpace(text), 32)
		if err != nil {
			o.err = errors.Join(o.err, fmt.Errorf("%s: not a number", key))
		}
		f = float32(x)
	}
	if least > most || !(f >= 0 && f < 1) {
		o.err = errors.Join(o.err, fmt.Errorf("%s: must lie between 0 and 1, and its least not above its most", key))
		return sharing{}
	}
	return sharing{least: least, most: most, fraction: float64(f)}
}

func (o *options) networkSharing() sharing {
	return o.sharing(0.1, optNetworkFraction, o.size(64*mib, optNetworkMin), o.size(unlimited, optNetworkMax))
}

func (o *options) overheadSharing() sharing {
	return o.sharing(0.1, optOverheadFraction, o.size(192*mib, optOverheadMin), o.size(1024*mib, optOverheadMax))
}

// deriveMemory divides a TaskManager's memory up as Flink does: by its parts
// where both heap and managed memory are given, else by Flink's own memory,
// else by that of the whole process.
func deriveMemory(config map[string]string) (tmMemory, error) {
	o := &options{config: config}
	m := tmMemory{
		frameworkHeap: o.size(128*mib, optFrameworkHeap), frameworkOffHeap: o.size(128*mib, optFrameworkOffHeap),
		taskHeap: o.size(0, optTaskHeap), taskOffHeap: o.size(0, optTaskOffHeap),
		managed: o.size(0, optManaged, optManagedOld), metaspace: o.size(256*mib, optMetaspace),
	}
	network, overhead := o.networkSharing(), o.overheadSharing()
	switch flink, process := o.size(0, optFlink), o.size(0, optProcess); {
	case o.has(optTaskHeap) && o.has(optManaged, optManagedOld):
		if o.has(optFlink) {
			m.network = flink - m.flink()
			o.check(m.network >= network.least && m.network <= network.most, optFlink)
		} else {
			m.network = network.beside(m.flink())
		}
		o.rest(&m, overhead, process)
	case o.has(optFlink):
		o.divide(&m, flink, network)
		o.rest(&m, overhead, process)
	case o.has(optProcess):
		m.overhead = overhead.of(process)
		o.divide(&m, process-m.metaspace-m.overhead, network)
	default:
		return tmMemory{}, fmt.Errorf("neither %s nor %s is given", optProcess, optFlink)
	}
	return m, o.err
}

// check keeps that an option does not fit to the others.
func (o *options) check(ok bool, key string) {
	if !ok {
		o.err = errors.Join(o.err, fmt.Errorf("%s: the parts do not add up to it", key))
	}
}

// divide shares Flink's own memory out.
func (o *options) divide(m *tmMemory, flink int64, network sharing) {
	o.check(flink >= 0, optProcess)
	if !o.has(optManaged, optManagedOld) {
		m.managed = o.sharing(0.4, optManagedFraction, 0, unlimited).of(flink)
	}
	if o.has(optTaskHeap) {
		m.network = 0
		m.network = flink - m.flink()
		o.check(m.network >= network.least && m.network <= network.most, optFlink)
		return
	}
	m.network = network.of(flink)
	m.taskHeap = flink - m.flink()
	o.check(m.taskHeap >= 0, optFlink)
}

// rest derives the JVM's own memory from Flink's.
func (o *options) rest(m *tmMemory, overhead sharing, process int64) {
	if o.has(optProcess) {
		m.overhead = process - m.flink() - m.metaspace
		o.check(m.overhead >= overhead.least && m.overhead <= overhead.most, optProcess)
		return
	}
	m.overhead = overhead.beside(m.flink() + m.metaspace)
}
