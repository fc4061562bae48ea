package event

import (
	"math"
	"strconv"
	"unicode/utf16"

	"flinkscaler/core"
)

// javaHash is the hash code of a text in Java: h = 31 h + c over its UTF-16
// units, in 32 bits that wrap around.
func javaHash(s string) int32 {
	var h int32
	for _, c := range utf16.Encode([]rune(s)) {
		h = 31*h + int32(c)
	}
	return h
}

// ParallelismHash stands for the sizes before and after of the vertices that
// change. It is the hash code of Java's map from id to "Parallelism a -> b",
// without its sign: the order of the vertices is irrelevant.
func ParallelismHash(entries []Entry) string {
	var sum int32
	for _, e := range entries {
		sum += javaHash(e.ID) ^ javaHash(e.change())
	}
	return positive(sum)
}

// graphHash stands for what runs now: which vertices, at which sizes.
func graphHash(vertices []core.VertexDecision) string {
	var sum int32
	for _, v := range vertices {
		sum += javaHash(v.ID) ^ javaHash(strconv.Itoa(v.From))
	}
	return positive(sum)
}

func positive(h int32) string { return strconv.Itoa(int(h & math.MaxInt32)) }
