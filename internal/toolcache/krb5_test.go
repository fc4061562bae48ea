package toolcache

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRelease(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ reason, content, want string }{
		"stable":     {reason: "a release has a number", content: "PRETTY_NAME=\"Debian\"\nVERSION_ID=\"12\"\nID=debian\n", want: "debian12"},
		"derivative": {reason: "a dot stays", content: "ID=ubuntu\nVERSION_ID='24.04'\n", want: "ubuntu24.04"},
		"testing":    {reason: "sid has no number", content: "ID=debian\n", want: "debian"},
		"path":       {reason: "nothing leads out of the cache", content: "ID=../../x\n", want: "....x"},
		"silent":     {reason: "nothing said", content: "", want: "linux"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "os-release")
			if err := os.WriteFile(file, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := release(file); got != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
			}
		})
	}
	if got := release(filepath.Join(t.TempDir(), "missing")); got != "linux" {
		t.Errorf("without the file: got %q", got)
	}
}

func TestKrb5Layout(t *testing.T) {
	t.Parallel()
	k := Krb5{Root: t.TempDir()}
	for _, folder := range []string{"usr/sbin", "usr/lib/x86_64-linux-gnu/krb5/plugins/kdb", "lib/x86_64-linux-gnu"} {
		if err := os.MkdirAll(filepath.Join(k.Root, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	want := filepath.Join(k.Root, "usr/lib/x86_64-linux-gnu") + ":" + filepath.Join(k.Root, "lib/x86_64-linux-gnu")
	if got := k.Libraries(); got != want {
		t.Errorf("libraries: got %s, want %s", got, want)
	}
	if got, want := k.Databases(), filepath.Join(k.Root, "usr/lib/x86_64-linux-gnu/krb5/plugins/kdb"); got != want {
		t.Errorf("databases: got %s, want %s", got, want)
	}
	program := filepath.Join(k.Root, "usr/sbin/krb5kdc")
	if err := os.WriteFile(program, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := k.Program("krb5kdc"); err != nil || got != program {
		t.Errorf("program: got %s, %v", got, err)
	}
	if _, err := k.Program("kadmin.local"); err == nil {
		t.Error("a program that is not there was found")
	}
}
