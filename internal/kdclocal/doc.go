// Package kdclocal runs a real MIT Kerberos KDC on a loopback port, TCP and UDP, for tests: krb5kdc, kdb5_util and
// kadmin.local from the tool cache. Principals are made, limited and given new keys while it runs.
//
// It starts in a second and needs no root rights. Nothing of it is kept: Close kills it and removes its folder. On Linux
// it also ends with this process, however that ends.
package kdclocal
