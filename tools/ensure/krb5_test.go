package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPackageNames(t *testing.T) {
	t.Parallel()
	const output = `krb5-kdc
  Depends: libc6
 |Depends: libverto-libev1
  Depends: <libverto-module>
    libverto-libev1
libc6
libkdb5-10t64
<libverto-module>
libc6:i386
`
	if diff := cmp.Diff([]string{"krb5-kdc", "libc6", "libkdb5-10t64"}, packageNames(output)); diff != "" {
		t.Error(diff)
	}
}

func TestWantedPackages(t *testing.T) {
	t.Parallel()
	got := wantedPackages([]string{"libc6", "libverto1t64", "libverto-glib1", "krb5-kdc", "libkrb5-3", "perl"})
	want := []string{"krb5-admin-server", "krb5-kdc", "krb5-user", "libkrb5-3", "libverto1t64"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMissingLibraries(t *testing.T) {
	t.Parallel()
	const output = "\tlibc.so.6 => /lib/libc.so.6 (0x0)\n\tlibkdb5.so.10 => not found\n\tlibverto.so.1 => not found\n"
	if diff := cmp.Diff([]string{"libkdb5.so.10", "libverto.so.1"}, missingLibraries(output)); diff != "" {
		t.Error(diff)
	}
}
