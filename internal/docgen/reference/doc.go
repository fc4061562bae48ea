// Package reference makes the pages of docs/reference from the code they are
// about: tables of policy keys, reasons, messages, metrics and settings.
//
// Invariants: the same code gives the same text; a thing that the code knows
// and a page would leave out is an error. It must not write anything.
package reference
