package policy

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// memoryUnit gives the bytes of a unit as Flink spells it, in any case. All are
// binary: 1 kb is 1024 bytes.
func memoryUnit(word string) (int64, bool) {
	switch strings.ToLower(word) {
	case "", "b", "bytes":
		return 1, true
	case "k", "kb", "kibibytes":
		return 1 << 10, true
	case "m", "mb", "mebibytes":
		return 1 << 20, true
	case "g", "gb", "gibibytes":
		return 1 << 30, true
	case "t", "tb", "tebibytes":
		return 1 << 40, true
	}
	return 0, false
}

// ParseMemory reads a size as Flink writes it, in bytes: "2g", "512 mb", or a
// bare number of bytes.
func ParseMemory(text string) (int64, error) {
	s := strings.TrimSpace(text)
	digits := 0
	for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
		digits++
	}
	if digits == 0 {
		return 0, fmt.Errorf("not a size of memory such as 512 mb or 2 gb")
	}
	word := strings.TrimSpace(s[digits:])
	size, ok := memoryUnit(word)
	if !ok {
		return 0, fmt.Errorf("unknown unit %q; one of b, kb, mb, gb, tb", word)
	}
	n, err := strconv.ParseInt(s[:digits], 10, 64)
	if err != nil || n > math.MaxInt64/size {
		return 0, fmt.Errorf("too large for a size of memory")
	}
	return n * size, nil
}

// FormatMemory writes bytes in the largest unit that is exact: "120 mb".
func FormatMemory(bytes int64) string {
	for _, u := range []struct {
		size int64
		word string
	}{{1 << 40, "tb"}, {1 << 30, "gb"}, {1 << 20, "mb"}, {1 << 10, "kb"}} {
		if bytes != 0 && bytes%u.size == 0 {
			return fmt.Sprintf("%d %s", bytes/u.size, u.word)
		}
	}
	return fmt.Sprintf("%d bytes", bytes)
}
