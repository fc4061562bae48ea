// Package kerberos logs in to a Kerberos realm with the keys of a keytab, for the adapters that speak to a secured
// Hadoop: HDFS takes the client itself (Login.Client), the REST APIs of YARN a transport that negotiates (SPNEGO,
// Login.Transport).
//
// A ticket is renewed when two thirds of its life are over, and got anew from the keytab when it cannot be renewed any
// more. The keytab and krb5.conf are read each time, so both can be replaced while the worker runs. A KDC that is down
// is noticed only when the ticket has ended, and nothing has to be done when it is back.
//
// The library underneath knows no context and has goroutines that renew tickets by themselves. Here it gets neither keys
// nor a reason to start one: what it holds are tickets, and when to ask the KDC is decided here. A question to a KDC that
// does not answer goes on, for some ten seconds for each KDC, after its caller has given up; there is one such question at
// a time, and those who ask the same wait for it together.
//
// Keys, tickets and cookies are never part of an error or a log.
package kerberos
