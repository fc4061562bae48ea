package hdfs

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	hdfs "github.com/colinmarc/hdfs/v2"

	"flinkscaler/core"
)

// metadata is the file that Flink writes last: with it a savepoint is complete.
const metadata = "_metadata"

// magic begins every metadata file of Flink.
var magic = []byte{0x49, 0x60, 0x67, 0x2d} //nolint:gochecknoglobals // a constant

// read reads metadata. Where their bytes are not to be had, what the NameNode says of
// them has to do, and the result says so.
func (s *Storage) read(c client, file string) (core.Savepoint, error) {
	f, err := c.Open(file)
	if err != nil {
		return core.Savepoint{}, err
	}
	defer func() { _ = f.Close() }()
	out, err := standing(f.Stat())
	if err != nil || out.Note != "" {
		return out, err
	}
	before := c.lines.heard.Load()
	first := make([]byte, len(magic))
	_, err = io.ReadFull(f, first)
	return s.judged(out, first, err, c.lines.heard.Load() > before)
}

// standing is what the NameNode's answer alone says of metadata. The note is empty
// for those whose bytes are to be read.
func standing(info os.FileInfo) (core.Savepoint, error) {
	out := core.Savepoint{At: info.ModTime().UTC(), Size: info.Size()}
	switch {
	case info.IsDir():
		return core.Savepoint{}, fmt.Errorf("%w: its %s is a directory", core.ErrRefused, metadata)
	case info.Size() == 0:
		return core.Savepoint{}, fmt.Errorf("%w: its %s is empty, it is being written or was never finished", core.ErrNotFound, metadata)
	case info.Size() < int64(len(magic)):
		return core.Savepoint{}, notFlinks()
	}
	if how := unreadable(info); how != "" {
		out.Note = unread("they are " + how)
	}
	return out, nil
}

// judged is what the first bytes of metadata say of them. The file is as long as
// that, so none of its bytes at its end is a DataNode that went away.
func (s *Storage) judged(standing core.Savepoint, first []byte, err error, heard bool) (core.Savepoint, error) {
	switch {
	case err == nil && !bytes.Equal(first, magic):
		return core.Savepoint{}, notFlinks()
	case err == nil:
		return standing, nil
	case heard && s.garbled(err):
		standing.Note = unread("DataNodes send them with protection " + s.protection + ", which cannot be read here")
		return standing, nil
	}
	return core.Savepoint{}, err
}

func notFlinks() error { return fmt.Errorf("%w: its %s is none of Flink's", core.ErrRefused, metadata) }

func unread(why string) string {
	return "its metadata are there; " + why + ", so their content was not looked at"
}

// outOfStep is the library's error for an answer that it has lost its place in. It
// does so with every answer of a DataNode that SASL itself protects.
const outOfStep = "cannot parse invalid wire-format data"

// garbled is true for the one error of a DataNode that is there, and whose answer the
// library can never read: anything else may pass, and is no reason to do without.
func (s *Storage) garbled(err error) bool {
	wraps := s.protection == ProtectIntegrity || s.protection == ProtectPrivacy
	return s.cfg.Login != nil && wraps && strings.Contains(err.Error(), outOfStep)
}

// unreadable says why the bytes of a file cannot be read here, empty for those that
// can.
func unreadable(info os.FileInfo) string {
	status, ok := info.Sys().(*hdfs.FileStatus)
	switch {
	case !ok:
		return ""
	case status.GetEcPolicy() != nil:
		return "erasure coded"
	case status.GetFileEncryptionInfo() != nil:
		return "encrypted"
	}
	return ""
}
