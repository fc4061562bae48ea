package hdfs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"flinkscaler/adapters/kerberos"
	"flinkscaler/core"
)

// protected is a Storage with Kerberos whose files say how DataNodes protect.
func protected(t *testing.T, login *kerberos.Login, site string) *Storage {
	t.Helper()
	s, err := New(Config{
		ConfigDirectory: configure(t, prop("fs.defaultFS", "hdfs://nn:8020"), site), Login: login, ServicePrincipal: "nn/_HOST",
		User: "flinkscaler",
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const protectionKey = "dfs.data.transfer.protection"

// garbage is what the library says of an answer that it lost its place in, with
// either of the spaces that it draws at its start.
var garbage = []error{errors.New("proto: " + outOfStep), errors.New("proto:\u00a0" + outOfStep)} //nolint:gochecknoglobals // a constant

// TestJudged: bytes that cannot be read are done without for one reason alone.
func TestJudged(t *testing.T) {
	login := new(kerberos.Login)
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	for name, c := range map[string]struct {
		reason string
		login  *kerberos.Login
		site   string
		first  string
		err    error
		silent bool
		want   error
		note   string
	}{
		"read":       {reason: "it is Flink's", login: login, site: prop(protectionKey, "integrity"), first: string(magic)},
		"other file": {reason: "its bytes were read, and are others", login: login, site: prop(protectionKey, "integrity"), first: "abcd", want: core.ErrRefused},

		"integrity": {reason: "the library never reads such an answer", login: login, site: prop(protectionKey, "integrity"), err: garbage[0], note: "protection integrity"},
		"privacy":   {reason: "nor such a one without AES", login: login, site: prop(protectionKey, "privacy"), err: garbage[1], note: "protection privacy"},
		"a list":    {reason: "the library takes the strongest", login: login, site: prop(protectionKey, "authentication,integrity"), err: garbage[0], note: "protection integrity"},
		"encrypted": {reason: "that is privacy by another name", login: login, site: prop("dfs.encrypt.data.transfer", "true"), err: garbage[0], note: "protection privacy"},

		"authentication":   {reason: "such answers are read: something else is wrong", login: login, site: prop(protectionKey, "authentication"), err: garbage[0], want: core.ErrUnreachable},
		"no protection":    {reason: "nothing was configured that explains it", login: login, err: garbage[0], want: core.ErrUnreachable},
		"without Kerberos": {reason: "nothing is protected by SASL then", site: prop(protectionKey, "integrity"), err: garbage[0], want: core.ErrUnreachable},
		"no DataNode":      {reason: "the answer that made no sense was a NameNode's", login: login, site: prop(protectionKey, "integrity"), err: garbage[0], silent: true, want: core.ErrUnreachable},

		"killed":  {reason: "a DataNode that is gone may come back", login: login, site: prop(protectionKey, "integrity"), err: refused, silent: true, want: core.ErrUnreachable},
		"frozen":  {reason: "one that hangs may go on", login: login, site: prop(protectionKey, "integrity"), err: os.ErrDeadlineExceeded, want: core.ErrUnreachable},
		"dying":   {reason: "what it had said before does not count", login: login, site: prop(protectionKey, "integrity"), err: io.ErrUnexpectedEOF, want: core.ErrUnreachable},
		"closed":  {reason: "the file is longer than that: its end is not it", login: login, site: prop(protectionKey, "integrity"), err: io.EOF, want: core.ErrUnreachable},
		"none":    {reason: "no DataNode has the block", login: login, site: prop(protectionKey, "privacy"), err: errors.New("no available datanodes"), silent: true, want: core.ErrUnreachable},
		"weaker":  {reason: "a DataNode that protects less is not trusted", login: login, site: prop(protectionKey, "privacy"), err: errors.New("negotiating data protection: invalid qop: 'integrity'"), want: core.ErrUnreachable},
		"corrupt": {reason: "a checksum that fails is no matter of protection", login: login, site: prop(protectionKey, "integrity"), err: errors.New("invalid checksum"), want: core.ErrUnreachable},
		"gone":    {reason: "it was deleted meanwhile", login: login, site: prop(protectionKey, "integrity"), err: &fs.PathError{Op: "open", Path: "/a", Err: fs.ErrNotExist}, silent: true, want: core.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			s := protected(t, c.login, c.site)
			known := core.Savepoint{At: time.Unix(100, 0).UTC(), Size: 31000}
			got, err := s.judged(known, []byte(c.first), c.err, !c.silent)
			if err = s.failed("check", "hdfs:///a", err); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Fatalf("%s: got %v, want %v", c.reason, err, c.want)
			}
			if err == nil && (got.At != known.At || got.Size != known.Size) || err != nil && got != (core.Savepoint{}) {
				t.Errorf("%s: savepoint %+v", c.reason, got)
			}
			if (got.Note != "") != (c.note != "") || !strings.Contains(got.Note, c.note) {
				t.Errorf("%s: note %q, want %q", c.reason, got.Note, c.note)
			}
		})
	}
}

// TestStanding: what the NameNode's answer alone says.
func TestStanding(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		size   int
		mode   fs.FileMode
		want   error
	}{
		"whole":     {reason: "a file with something in it", size: 31000},
		"least":     {reason: "as long as what it begins with", size: len(magic)},
		"short":     {reason: "shorter than what each of them begins with", size: len(magic) - 1, want: core.ErrRefused},
		"empty":     {reason: "it is being written", want: core.ErrNotFound},
		"directory": {reason: "that is no file", size: 10, mode: fs.ModeDir, want: core.ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			at := time.Date(2024, 5, 1, 12, 0, 0, 0, time.FixedZone("", 7200))
			info, err := fstest.MapFS{"f": {Data: make([]byte, c.size), Mode: c.mode, ModTime: at}}.Stat("f")
			if err != nil {
				t.Fatal(err)
			}
			got, err := standing(info)
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Fatalf("%s: got %v, want %v", c.reason, err, c.want)
			}
			if err == nil && (got.Size != int64(c.size) || !got.At.Equal(at) || got.At.Location() != time.UTC || got.Note != "") {
				t.Errorf("%s: savepoint %+v", c.reason, got)
			}
		})
	}
}

// TestHeard: only what DataNodes send is counted.
func TestHeard(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	go func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte{0, 0, 0, 1})
			_ = c.Close()
		}
	}()
	l := &lines{ctx: t.Context(), timeout: 10 * time.Second, open: map[net.Conn]struct{}{}}
	defer l.end()
	for _, c := range []struct {
		name string
		dial func(context.Context, string, string) (net.Conn, error)
		want int64
	}{{"a NameNode", l.toNameNode, 0}, {"a DataNode", l.toDataNode, 1}} {
		conn, err := c.dial(t.Context(), "tcp", server.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, 4)); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("%s: the end gives %v", c.name, err)
		}
		if got := l.heard.Load(); got < c.want || c.want == 0 && got > 0 {
			t.Errorf("%s: heard %d times", c.name, got)
		}
	}
}
