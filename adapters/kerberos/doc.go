// Package kerberos logs in with a keytab, for adapters whose servers ask for it.
package kerberos
