package config

import (
	"fmt"
	"slices"
	"strings"
)

// unknown says what to write in place of a key that is not known.
func unknown(key string, known []string) string {
	if isSecret(key) && slices.Contains(known, "passwordFile") {
		return "unknown key; credentials are never values here, name a file in passwordFile or tokenFile"
	}
	if near := nearest(key, known); near != "" {
		return fmt.Sprintf("unknown key; did you mean %s?", near)
	}
	return "unknown key; known are " + strings.Join(known, ", ")
}

// isSecret is true for a key under which somebody would write a credential
// itself.
func isSecret(key string) bool {
	low := strings.ToLower(key)
	for _, w := range []string{"password", "token", "secret", "bearertoken", "apikey", "credentials", "authorization"} {
		if distance(low, w) <= 1 {
			return true
		}
	}
	return false
}

// nearest gives the word that was probably meant, or nothing.
func nearest(word string, known []string) string {
	best, at := "", max(2, len(word)/3)+1
	for _, k := range known {
		if d := distance(strings.ToLower(word), strings.ToLower(k)); d < at {
			best, at = k, d
		}
	}
	return best
}

// distance counts the letters to insert, delete, replace or swap with their
// neighbour to get from a to b.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range len(b) + 1 {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
