//go:build e2e

package kdclocal_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"

	"flinkscaler/internal/kdclocal"
)

func start(t *testing.T, o kdclocal.Options) *kdclocal.KDC {
	t.Helper()
	o.Log = t.Output()
	k, err := kdclocal.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

// login gets a ticket with the keys in a file, from the KDC itself each time.
func login(t *testing.T, k *kdclocal.KDC, name, file string) (messages.ASRep, error) {
	t.Helper()
	c, err := config.Load(k.Config())
	if err != nil {
		t.Fatal(err)
	}
	keys, err := keytab.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	user := client.NewWithKeytab(name, k.Realm(), keys, c)
	t.Cleanup(user.Destroy)
	request, err := messages.NewASReqForTGT(k.Realm(), c, credentials.New(name, k.Realm()).CName())
	if err != nil {
		t.Fatal(err)
	}
	return user.ASExchange(k.Realm(), request, 0)
}

func TestKeysLogIn(t *testing.T) {
	k := start(t, kdclocal.Options{TicketLife: 10 * time.Minute, RenewableLife: time.Hour})
	file := filepath.Join(t.TempDir(), "keytab")
	if err := k.Keytab(t.Context(), file, "someone", "HTTP/localhost"); err != nil {
		t.Fatal(err)
	}
	reply, err := login(t, k, "someone", file)
	if err != nil {
		t.Fatal(err)
	}
	from := reply.DecryptedEncPart.AuthTime
	if life := reply.DecryptedEncPart.EndTime.Sub(from); life != 10*time.Minute {
		t.Errorf("the ticket lives %s", life)
	}
	if renewable := reply.DecryptedEncPart.RenewTill.Sub(from); renewable != time.Hour {
		t.Errorf("the ticket can be renewed for %s", renewable)
	}

	if err := k.Limit(t.Context(), "someone", 20*time.Second, 40*time.Second); err != nil {
		t.Fatal(err)
	}
	if reply, err = login(t, k, "someone", file); err != nil {
		t.Fatal(err)
	}
	from = reply.DecryptedEncPart.AuthTime
	if life := reply.DecryptedEncPart.EndTime.Sub(from); life != 20*time.Second {
		t.Errorf("the limited ticket lives %s", life)
	}
	if renewable := reply.DecryptedEncPart.RenewTill.Sub(from); renewable != 40*time.Second {
		t.Errorf("the limited ticket can be renewed for %s", renewable)
	}
}

func TestNewKeysShutOldOnesOut(t *testing.T) {
	k := start(t, kdclocal.Options{})
	file := filepath.Join(t.TempDir(), "keytab")
	keytabOf := func() {
		t.Helper()
		if err := k.Keytab(t.Context(), file, "someone"); err != nil {
			t.Fatal(err)
		}
	}
	keytabOf()
	if err := k.Rotate(t.Context(), "someone"); err != nil {
		t.Fatal(err)
	}
	if _, err := login(t, k, "someone", file); err == nil {
		t.Error("old keys log in after new ones were made")
	}
	keytabOf()
	if _, err := login(t, k, "someone", file); err != nil {
		t.Errorf("new keys: %v", err)
	}
	if err := k.Forget(t.Context(), "someone"); err != nil {
		t.Fatal(err)
	}
	if _, err := login(t, k, "someone", file); err == nil {
		t.Error("a deleted principal logs in")
	}
	if err := k.Rotate(t.Context(), "nobody"); err == nil {
		t.Error("a principal that is not there got new keys")
	}
}

func TestKilledAndLaunchedAgain(t *testing.T) {
	k := start(t, kdclocal.Options{})
	file := filepath.Join(t.TempDir(), "keytab")
	if err := k.Keytab(t.Context(), file, "someone"); err != nil {
		t.Fatal(err)
	}
	if err := k.Process().Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := login(t, k, "someone", file); err == nil {
		t.Error("a KDC that was killed answered")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := k.Launch(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := login(t, k, "someone", file); err != nil {
		t.Errorf("launched again: %v", err)
	}
}
