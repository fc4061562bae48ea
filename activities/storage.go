package activities

import "strings"

// storageTrouble recognises in the words of a failed checkpoint that its
// storage did not answer, as against a checkpoint that was only too slow.
// A rescale while the storage is down can end a healthy job for good.
func storageTrouble(note string) bool {
	low := strings.ToLower(note)
	for _, w := range []string{"ioexception", "could not flush", "could not materialize", "no such file", "connection refused", "filesystem", "file system", "permission denied", "no space", "safe mode", "could not finalize", "asynchronous task checkpoint failed"} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}
