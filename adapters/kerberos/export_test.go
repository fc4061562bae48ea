package kerberos

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/jcmturner/gokrb5/v8/client"
)

// TicketEnd is when the ticket of a client ends. The library shows it as text only.
func TicketEnd(c *client.Client) time.Time {
	var out bytes.Buffer
	c.Print(&out)
	_, after, _ := strings.Cut(out.String(), "TGT Sessions:\n")
	var sessions []struct{ EndTime time.Time }
	if err := json.NewDecoder(strings.NewReader(after)).Decode(&sessions); err != nil || len(sessions) != 1 {
		return time.Time{}
	}
	return sessions[0].EndTime
}
