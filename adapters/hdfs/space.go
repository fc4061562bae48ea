package hdfs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"strconv"

	hdfs "github.com/colinmarc/hdfs/v2"

	"flinkscaler/core"
)

// copies is how often HDFS keeps a file where its configuration does not say.
const copies = 3

// largest is how many files and directories a directory may hold whose parent is
// still asked for its quota: NameNodes count all that is below for the answer.
const largest = 100_000

// Space reads how much can still be written in a directory: what all DataNodes have
// left, and what the quotas of the directory and of those above it leave.
func (s *Storage) Space(ctx context.Context, directory string) (core.Space, error) {
	const op = "read free space"
	at, err := s.places.find(directory)
	if err != nil {
		return core.Space{}, s.failed(op, directory, err)
	}
	out, err := ask(ctx, s, at, func(c client) (core.Space, error) {
		disks, err := c.StatFs()
		if err != nil {
			return core.Space{}, err
		}
		r := room{copies: s.copies, bytes: disks.Remaining, bound: "what the DataNodes have left", names: math.MaxInt64}
		err = s.quotas(c, at, &r)
		return r.space(), err
	})
	return out, s.failed(op, directory, err)
}

// room is what is left, the least of all bounds.
type room struct {
	copies int
	bytes  uint64 // of all copies together
	bound  string
	names  int64 // files and directories
	note   string
}

func (r room) space() core.Space {
	out := core.Space{Free: core.Read(float64(r.bytes / uint64(r.copies))), Bound: r.bound, Copies: r.copies, Note: r.note}
	if r.names < math.MaxInt64 {
		out.Names = core.Read(float64(r.names))
	}
	return out
}

// quotas reads those of a directory and of all above it but the root, which counts
// the whole file system. A directory that is not there yet has none.
func (s *Storage) quotas(c client, at place, r *room) error {
	for dir := at.path; dir != "/"; dir = path.Dir(dir) {
		if s.tooLarge(at.authority+dir, false) {
			r.note = "the quotas of " + dir + " and above are not known: it is too large to be counted"
			return nil
		}
		sum, err := c.GetContentSummary(dir)
		switch {
		case errors.Is(err, os.ErrNotExist):
			continue
		case errors.Is(err, os.ErrPermission):
			r.note = fmt.Sprintf("the quotas of %s and above are not known: the user %s may not read it", dir, s.who())
			return nil
		case err != nil && dir != at.path:
			// Counting it may take longer than an answer may: not again.
			s.tooLarge(at.authority+dir, true)
			return err
		case err != nil:
			return err
		}
		r.apply(dir, sum)
		if sum.FileCount()+sum.DirectoryCount() > largest {
			s.tooLarge(at.authority+path.Dir(dir), true)
		}
	}
	return nil
}

// apply takes the quotas of one directory. One that is not set is negative.
func (r *room) apply(dir string, sum *hdfs.ContentSummary) {
	if quota := sum.SpaceQuota(); quota >= 0 {
		if left := uint64(max(0, quota-sum.SizeAfterReplication())); left < r.bytes { //nolint:gosec // not negative
			r.bytes, r.bound = left, "the space quota of "+dir
		}
	}
	if quota := sum.NameQuota(); quota >= 0 {
		r.names = min(r.names, max(0, int64(quota-sum.FileCount()-sum.DirectoryCount())))
	}
}

// tooLarge remembers directories that are not to be counted.
func (s *Storage) tooLarge(dir string, is bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if is {
		s.large[dir] = true
	}
	return s.large[dir]
}

// copiesOf is how often a file is kept.
func copiesOf(p properties) int {
	if n, err := strconv.Atoi(p.get("dfs.replication")); err == nil && n > 0 {
		return n
	}
	return copies
}
