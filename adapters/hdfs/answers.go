package hdfs

import (
	"context"
	"os"
	"strings"
)

// Covers is true for a place on HDFS.
func (s *Storage) Covers(url string) bool { return strings.HasPrefix(url, Scheme+":") }

// Answers proves that the NameNode of a place is there and would take a write, which
// one in safe mode does not. It changes nothing: what it asks for is a change of a
// file that does not exist, which a NameNode looks for only when it takes writes.
func (s *Storage) Answers(ctx context.Context, url string) error {
	at, err := s.places.find(url)
	if err == nil {
		_, err = ask(ctx, s, at, func(c client) (struct{}, error) {
			return struct{}{}, refusal(c.Chmod("/.flinkscaler-asks-"+c.Name(), os.ModePerm))
		})
	}
	return s.failed("ask HDFS", url, err)
}

// refusal is what keeps a NameNode from taking a write: any other error shows that
// it would have.
func refusal(err error) error {
	switch {
	case err == nil, exception(err) != "" && exception(err) != inSafeMode && !elsewhere(err):
		return nil
	case os.IsNotExist(err), os.IsPermission(err):
		return nil
	}
	return err
}
