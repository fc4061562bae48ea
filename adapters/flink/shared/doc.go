// Package shared lets many who ask the same question at once, or within a short
// while, share one answer.
package shared
