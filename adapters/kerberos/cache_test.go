package kerberos

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// cached is a ticket cache of version 4 with one ticket of me@A.REALM for a service.
func cached(service []string, end time.Time) []byte {
	var b bytes.Buffer
	number := func(n ...uint32) {
		for _, v := range n {
			_ = binary.Write(&b, binary.BigEndian, v)
		}
	}
	text := func(s string) {
		number(uint32(len(s)))
		b.WriteString(s)
	}
	principal := func(name ...string) {
		number(1, uint32(len(name)))
		text("A.REALM")
		for _, n := range name {
			text(n)
		}
	}
	b.Write([]byte{5, 4, 0, 0}) // no header
	principal("me")             // whose cache it is
	principal("me")
	principal(service...)
	b.Write([]byte{0, 18}) // the kind of the key
	text("key")
	number(1, 1, uint32(end.Unix()), 0)
	b.WriteByte(0) // not of a session
	number(0, 0, 0)
	text("ticket")
	text("") // no second ticket
	return b.Bytes()
}

func TestCheckCache(t *testing.T) {
	t.Parallel()
	end := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	login := cached([]string{"krbtgt", "A.REALM"}, end)
	for name, c := range map[string]struct {
		reason  string
		content []byte
		until   time.Time
		words   string // of the error; empty: it is good
	}{
		"a login":    {"what kinit writes", login, end.Add(-time.Minute), ""},
		"too short":  {"it ends before what it is for", login, end.Add(time.Second), "ends at 2030-01-02T03:04:05Z"},
		"a service":  {"nothing else can be asked for with it", cached([]string{"nn", "host"}, end), end, "holds no login"},
		"cut short":  {"somebody is writing it", login[:30], end, "holds no login"},
		"not a file": {"something else", []byte("ticket"), end, "holds no login"},
		"empty":      {"nothing", nil, end, "holds no login"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "cache")
			if err := os.WriteFile(file, c.content, 0o600); err != nil {
				t.Fatal(err)
			}
			err := CheckCache(file, c.until)
			if (err == nil) != (c.words == "") || err != nil && !strings.Contains(err.Error(), c.words) {
				t.Errorf("%s: got %v, want %q", c.reason, err, c.words)
			}
		})
	}
	if err := CheckCache(filepath.Join(t.TempDir(), "missing"), end); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
}
