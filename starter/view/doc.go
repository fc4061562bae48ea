// Package view turns what a ScaleFlinkJob answers into text for people: aligned
// tables, one job's status, and a live view that is redrawn in place.
//
// Invariants: a number that is not known is shown as such, never as zero; what
// comes from outside (names, notes) cannot move the cursor or colour the
// screen; without colour the text is the same, so that it can be compared.
//
// It must not talk to Temporal, nor read a clock except in Render and where no
// clock is given to a Live.
package view
