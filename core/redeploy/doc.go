// Package redeploy has what a change needs that stops a job with a savepoint and
// starts it again: names that stay the same over every repeat, and the judgement
// of how a stop ended. It is pure.
package redeploy
