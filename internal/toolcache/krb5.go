package toolcache

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Krb5 is where the unpacked packages of MIT Kerberos are. Their programs find nothing by themselves there: they need
// Libraries in LD_LIBRARY_PATH.
type Krb5 struct {
	// Root holds the packages as they would be below /.
	Root string
}

// Krb5 is the place of MIT Kerberos from the packages of this machine's Debian release. Another release has another
// place, since its programs need another C library.
func (c Cache) Krb5() Krb5 {
	return Krb5{Root: filepath.Join(c.root, "krb5-"+release("/etc/os-release"))}
}

// FindKrb5 returns where MIT Kerberos is, or ErrMissing.
func (c Cache) FindKrb5() (Krb5, error) {
	k := c.Krb5()
	_, err := present(k.Root, "krb5")
	return k, err
}

// Stamp is a file with the names and versions of the packages, one a line.
func (k Krb5) Stamp() string { return filepath.Join(k.Root, "packages") }

// Program is the path of a program such as krb5kdc.
func (k Krb5) Program(name string) (string, error) {
	for _, folder := range []string{"usr/sbin", "usr/bin", "sbin", "bin"} {
		path := filepath.Join(k.Root, folder, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("find %s below %s (remove that folder, then run: go run ./tools/ensure krb5): %w", name, k.Root, ErrMissing)
}

// Libraries is what LD_LIBRARY_PATH must be.
func (k Krb5) Libraries() string {
	return strings.Join(k.folders("usr/lib/*-linux-*", "lib/*-linux-*"), ":")
}

// Databases is the folder of the modules that keep a KDC's database; krb5.conf calls it db_module_dir.
func (k Krb5) Databases() string {
	return strings.Join(k.folders("usr/lib/*-linux-*/krb5/plugins/kdb"), "")
}

func (k Krb5) folders(patterns ...string) []string {
	var found []string
	for _, p := range patterns {
		folders, _ := filepath.Glob(filepath.Join(k.Root, p)) // the patterns are good ones
		found = append(found, folders...)
	}
	return found
}

// release is this machine's distribution with its version, such as debian12; linux when it does not say.
func release(file string) string {
	content, err := os.ReadFile(file)
	if err != nil {
		return "linux"
	}
	values := map[string]string{}
	for line := range strings.Lines(string(content)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			values[key] = strings.Trim(value, `"'`)
		}
	}
	name := strings.Map(plain, values["ID"]+values["VERSION_ID"])
	if name == "" {
		return "linux"
	}
	return name
}

// plain keeps what may be in the name of a folder.
func plain(r rune) rune {
	if r == '.' || r == '-' || (r >= '0' && r <= '9') || (r >= 'a' && r <= 'z') {
		return r
	}
	return -1
}
