package kdclocal

import (
	"io"
	"os"
	"time"

	"flinkscaler/internal/child"
)

// Options say what KDC to run. The zero value is good for most tests.
type Options struct {
	// Realm is its name. Default: TEST.REALM.
	Realm string
	// TicketLife is the longest life of a ticket, in whole seconds. Default: 1 h. KDC.Limit gives a principal less.
	TicketLife time.Duration
	// RenewableLife is how long a ticket can be renewed, in whole seconds. Default: 24 h.
	RenewableLife time.Duration

	// Dir is the folder in which the KDC makes a folder of its own. Default: the system's temporary folder.
	Dir string
	// KeepDir leaves that folder, with all logs and keys, behind.
	KeepDir bool
	// Log receives a line for each step of starting up. Default: nowhere.
	Log io.Writer
	// WaitTimeout bounds the wait for the KDC to answer. Default: 1 min; it takes less than a second.
	WaitTimeout time.Duration

	// ports finds free ports, child.FreePorts when nil.
	ports func(count int) ([]int, error)
}

func (o Options) withDefaults() Options {
	if o.Realm == "" {
		o.Realm = "TEST.REALM"
	}
	if o.TicketLife == 0 {
		o.TicketLife = time.Hour
	}
	if o.RenewableLife == 0 {
		o.RenewableLife = 24 * time.Hour
	}
	if o.Dir == "" {
		o.Dir = os.TempDir()
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.WaitTimeout == 0 {
		o.WaitTimeout = time.Minute
	}
	if o.ports == nil {
		o.ports = child.FreePorts
	}
	return o
}
