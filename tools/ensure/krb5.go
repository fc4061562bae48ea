package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flinkscaler/internal/toolcache"
)

// krb5Target is MIT Kerberos: the KDC and its tools from the packages of the Debian release that this machine is set up
// for, with the libraries that a machine without Kerberos lacks. They are unpacked, not installed: no root rights are
// needed, and nothing outside of the cache changes. Which version it is, the release decides: a mirror keeps no other.
type krb5Target struct{ e *ensurer }

// krb5Packages are what is wanted. What these need is looked up.
func krb5Packages() []string { return []string{"krb5-kdc", "krb5-admin-server", "krb5-user"} }

// krb5Libraries are the beginnings of the names of libraries to take along. Everything else that the packages need, the
// C library above all, is on any machine that has apt-get, and a second copy of it would not go with the first.
func krb5Libraries() []string {
	return []string{
		"libcom-err", "libev4", "libgssapi-krb5", "libgssrpc", "libk5crypto", "libkadm5", "libkdb5", "libkeyutils",
		"libkrb5", "liblmdb", "libss2", "libverto1", "libverto-libev",
	}
}

func (krb5Target) name() string { return "krb5" }

func (t krb5Target) have(context.Context) (string, bool) {
	k, err := t.e.cache.FindKrb5()
	return k.Root, err == nil
}

func (krb5Target) needs() []prerequisite {
	const hint = "a Debian or a system derived from it; MIT Kerberos is taken from its packages"
	return []prerequisite{
		{name: "apt-get", check: []string{"apt-get", "--version"}, hint: hint},
		{name: "apt-cache", check: []string{"apt-cache", "--version"}, hint: hint},
		{name: "dpkg-deb", check: []string{"dpkg-deb", "--version"}, hint: hint},
	}
}

func (krb5Target) intro() string {
	return "downloading and unpacking MIT Kerberos (1.5 MB, and 15 MB of package lists); usually 10 s to a minute"
}

// make puts everything together beside its place and moves it there when it is whole.
func (t krb5Target) make(ctx context.Context, task *task) error {
	place := t.e.cache.Krb5()
	unfinished := place.Root + ".unfinished" // the lock is ours: what is there was left by a run that died
	if err := os.RemoveAll(unfinished); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(unfinished) }()
	a, err := newApt(t.e, filepath.Join(unfinished, "apt"))
	if err != nil {
		return err
	}
	task.watch(func() string { return "downloading" })
	packages, err := t.download(ctx, a)
	if err != nil {
		return fmt.Errorf("download MIT Kerberos (needs the package mirror that this machine is set up for; run it again when it answers): %w", err)
	}
	task.watch(func() string { return "unpacking" })
	made := toolcache.Krb5{Root: filepath.Join(unfinished, "root")}
	if err := t.unpack(ctx, packages, made); err != nil {
		return err
	}
	return os.Rename(made.Root, place.Root)
}

// download returns the files of the packages.
func (t krb5Target) download(ctx context.Context, a apt) ([]string, error) {
	// A source that does not answer may be one that has nothing to do with this, so what counts is what follows.
	updated := a.update(ctx)
	names, err := a.dependencies(ctx, krb5Packages())
	if err != nil {
		return nil, errors.Join(err, updated)
	}
	files, err := a.download(ctx, wantedPackages(names))
	if err != nil {
		return nil, errors.Join(err, updated)
	}
	return files, nil
}

// wantedPackages picks what is to be unpacked, in the order of the names.
func wantedPackages(names []string) []string {
	wanted := krb5Packages()
	for _, name := range names {
		if slices.ContainsFunc(krb5Libraries(), func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			wanted = append(wanted, name)
		}
	}
	slices.Sort(wanted)
	return slices.Compact(wanted)
}

// unpack unpacks the packages, writes down which they were, and sees whether their programs find all libraries.
func (t krb5Target) unpack(ctx context.Context, packages []string, to toolcache.Krb5) error {
	var stamp strings.Builder
	for _, file := range packages {
		if err := t.e.runTool(ctx, command{args: []string{"dpkg-deb", "-x", file, to.Root}}); err != nil {
			return err
		}
		fmt.Fprintln(&stamp, strings.TrimSuffix(filepath.Base(file), ".deb"))
	}
	for _, name := range []string{"krb5kdc", "kdb5_util", "kadmin.local", "kinit"} {
		program, err := to.Program(name)
		if err != nil {
			return err
		}
		output, err := t.e.toolOutput(ctx, command{env: []string{"LD_LIBRARY_PATH=" + to.Libraries()}, args: []string{"ldd", program}})
		if err != nil {
			return err
		}
		if missing := missingLibraries(output); len(missing) > 0 {
			return fmt.Errorf("%s needs libraries that this machine lacks: %s", name, strings.Join(missing, ", "))
		}
	}
	return os.WriteFile(to.Stamp(), []byte(stamp.String()), 0o644)
}

// missingLibraries reads what ldd says.
func missingLibraries(output string) []string {
	var missing []string
	for line := range strings.Lines(output) {
		if name, _, ok := strings.Cut(line, " => not found"); ok {
			missing = append(missing, strings.TrimSpace(name))
		}
	}
	return missing
}
