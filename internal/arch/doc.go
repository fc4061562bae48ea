// Package arch holds tests only: who may import whom, one package comment per
// package, generated documents in step with the code. Each rule is shown to
// catch a violation.
package arch
