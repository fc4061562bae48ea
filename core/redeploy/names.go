package redeploy

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strconv"
	"strings"

	"flinkscaler/core"
)

// Trigger is the id under which an attempt stops its job: 32 hex digits, the
// same for every repeat.
func Trigger(key core.JobKey, decision string, attempt int) string {
	return hexID("stop", key.Cluster, key.Job, decision, strconv.Itoa(attempt))
}

// JobID is the id under which the job is submitted again after a stop. n counts
// from 0 and moves on only when a job with the id before has been seen ended: so
// a repeat whose answer was lost can never run a second copy.
func JobID(trigger string, n int) string {
	return hexID("job", trigger, strconv.Itoa(n))
}

func hexID(words ...string) string {
	sum := sha256.Sum256([]byte("flinkscaler\x00" + strings.Join(words, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// Directory is where the savepoint of one stop goes: no other stop has the same,
// so that what is found in it is of this one. It is directly below Folder.
func Directory(base string, key core.JobKey, decision, trigger string) string {
	return Folder(base, key) + "/" + fmt.Sprintf("%s-%s", plain(decision), trigger[:8])
}

// Folder has the directories of all stops of one job and of no other, however
// names begin.
func Folder(base string, key core.JobKey) string {
	return strings.TrimRight(base, "/") + "/" + plain(key.Job) + "-" + hexID("folder", key.Cluster, key.Job)[:16]
}

// plain keeps what a path of any storage takes.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, s)
}

// SamePath is true for two spellings of one place: Flink writes file:/a for
// file:///a.
func SamePath(a, b string) bool { return canonical(a) == canonical(b) }

func canonical(p string) string {
	scheme, rest, ok := strings.Cut(p, ":")
	if !ok || strings.Contains(scheme, "/") {
		scheme, rest = "file", p
	}
	authority := ""
	if host, is := strings.CutPrefix(rest, "//"); is {
		authority, rest, _ = strings.Cut(host, "/")
		rest = "/" + rest
	}
	return scheme + "://" + authority + path.Clean(rest)
}

// OwnCheckpoint is true for the path of a checkpoint that the job itself took.
func OwnCheckpoint(p, jobID string) bool { return strings.Contains(p, "/"+jobID+"/chk-") }

// Checkpoints is the directory of the checkpoints of a job, by one that another job
// of its program took; empty where Flink does not keep them by the job's id.
func Checkpoints(seen, of, job string) string {
	base, _, own := strings.Cut(seen, "/"+of+"/chk-")
	if !own || of == "" || job == "" {
		return ""
	}
	return base + "/" + job
}

// Parent is the directory that a path is in, of a URL too.
func Parent(p string) string {
	p = strings.TrimRight(p, "/")
	return p[:max(0, strings.LastIndexByte(p, '/'))]
}

// Command is how a person starts the job again by hand. The program and its
// arguments are not in it: they may hold what nobody else must see. The savepoint
// comes first: the rest may be cut.
func Command(by core.ByHand, savepoint string, sizes []core.VertexSize) string {
	line := cmp.Or(by.Command, "flink run -d") + " -s " + savepoint + " -D" + OverridesKey + "=" + Overrides(sizes)
	if by.Options != "" {
		line += " " + by.Options
	}
	return line + " <jar> <arguments>"
}

// OverridesKey is Flink's option for the parallelism of vertices.
const OverridesKey = "pipeline.jobvertex-parallelism-overrides"

// Overrides is the value of OverridesKey.
func Overrides(sizes []core.VertexSize) string {
	parts := make([]string, 0, len(sizes))
	for _, v := range sizes {
		parts = append(parts, v.ID+":"+strconv.Itoa(v.Parallelism))
	}
	return strings.Join(parts, ",")
}
