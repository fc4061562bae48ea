package hdfs

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"

	hdfs "github.com/colinmarc/hdfs/v2"

	"flinkscaler/core"
)

// Exceptions of a NameNode that say more than that something went wrong.
const (
	inSafeMode = "org.apache.hadoop.hdfs.server.namenode.SafeModeException"
	retriable  = "org.apache.hadoop.ipc.RetriableException"
	standby    = "org.apache.hadoop.ipc.StandbyException"
	noParent   = "org.apache.hadoop.fs.ParentNotDirectoryException"
	badPath    = "org.apache.hadoop.fs.InvalidPathException"
)

// failed gives an error one of core's meanings, once.
func (s *Storage) failed(op, place string, err error) error {
	if err == nil {
		return nil
	}
	out := &core.OpError{Op: op, Subject: place}
	var inner *core.OpError // from below, such as a login
	switch {
	case errors.As(err, &inner):
		out.Err = inner
		return out
	case meant(err):
		out.Err = err
		out.Hint = hint(err)
		return out
	}
	out.Hint, out.Err = s.meaning(err)
	return out
}

func isGone(err error) bool { return errors.Is(err, core.ErrNotFound) }

// meant is true for an error that has its meaning already.
func meant(err error) bool {
	for _, m := range []error{core.ErrNotFound, core.ErrRefused, core.ErrUnreachable, core.ErrUnauthorized} {
		if errors.Is(err, m) {
			return true
		}
	}
	return false
}

// meaning is what an error of the library means, and a hint.
func (s *Storage) meaning(err error) (why string, meaning error) {
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", core.ErrNotFound
	case errors.Is(err, os.ErrPermission):
		why := "give that user the right to read it"
		if s.cfg.Login == nil {
			why += "; where HDFS wants Kerberos, give kerberos"
		}
		return why, fmt.Errorf("%w: the user %s may not", core.ErrRefused, s.who())
	// Before ErrExist, which it also is.
	case errors.Is(err, syscall.ENOTEMPTY):
		return "", fmt.Errorf("%w: the directory is not empty", core.ErrRefused)
	case errors.Is(err, os.ErrExist), errors.Is(err, os.ErrInvalid):
		return "", fmt.Errorf("%w: %s", core.ErrRefused, words(err))
	}
	switch exception(err) {
	case noParent:
		return "", core.ErrNotFound
	case badPath:
		return "", fmt.Errorf("%w: %s", core.ErrRefused, words(err))
	}
	return hint(err), fmt.Errorf("%w: %s", core.ErrUnreachable, words(err))
}

// hint says what to look at.
func hint(err error) string {
	text := err.Error()
	var timeout net.Error
	switch {
	case exception(err) == inSafeMode, strings.Contains(text, "SafeModeException"):
		return "HDFS is in safe mode: it takes no writes"
	case exception(err) == retriable:
		return "the NameNode is starting"
	case strings.Contains(text, "StandbyException"):
		return "look whether one of its NameNodes is active"
	case strings.Contains(text, "no available datanodes"):
		return "no DataNode has the blocks of the file now"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "it did not answer in time"
	}
	return ""
}

// exception is the class of what a NameNode threw, empty for anything else.
func exception(err error) string {
	var remote hdfs.Error
	if errors.As(err, &remote) {
		return remote.Exception()
	}
	return ""
}

// words are those of an error without its stack trace and without the path, which
// stands beside it.
func words(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	var remote hdfs.Error
	if !errors.As(err, &remote) {
		return err.Error()
	}
	class := remote.Exception()
	class = class[strings.LastIndexByte(class, '.')+1:]
	line, _, _ := strings.Cut(remote.Message(), "\n")
	return strings.TrimSuffix(strings.TrimSpace(class+": "+line), ":")
}
