//go:build !linux

package yarn

import "context"

// sweep can find nothing here: earlier calls are waited for as if they were elsewhere.
func sweep(context.Context, string) {}

func marksOf(string) []int { return nil }
