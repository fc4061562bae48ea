// Package managed has what the tests on real systems do alike with a managed job,
// whatever it runs on: the policy of a short life, how its status is read, and how to
// wait for one.
package managed
