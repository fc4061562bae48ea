package kerberos

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/jcmturner/gokrb5/v8/credentials"
)

// CheckCache says what is wrong with a ticket cache, such as kinit writes into a file: its login must live until a time.
func CheckCache(file string, until time.Time) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var end time.Time
	for _, c := range readCache(content) {
		if name := c.Server.PrincipalName.NameString; slices.Equal(name, []string{"krbtgt", c.Client.Realm}) && c.EndTime.After(end) {
			end = c.EndTime
		}
	}
	switch {
	case end.IsZero():
		return fmt.Errorf("%s holds no login", file)
	case end.Before(until):
		return fmt.Errorf("the login in %s ends at %s", file, end.UTC().Format(time.RFC3339))
	}
	return nil
}

// readCache also takes the library's panics about content that is no ticket cache for an answer.
func readCache(content []byte) (held []*credentials.Credential) {
	defer func() {
		if recover() != nil {
			held = nil
		}
	}()
	cache := &credentials.CCache{}
	if err := cache.Unmarshal(content); err != nil {
		return nil
	}
	return cache.Credentials
}
