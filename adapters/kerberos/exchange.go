package kerberos

import (
	"fmt"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// user is whose ticket is got: the principal, with krb5.conf and the keytab as they are now.
type user struct {
	name, realm string
	settings    *config.Config
	// session is the library's, with keys or with a ticket. The one with keys never gets a session of its own, so it
	// starts no goroutine.
	session *client.Client
}

// newUser reads the files.
func newUser(c Config) (user, error) {
	name, realm, problem := splitPrincipal(c.Principal)
	if problem != "" {
		return user{}, fmt.Errorf("principal: %s", problem)
	}
	settings, err := loadConfig(c.configFile())
	if err != nil {
		return user{}, err
	}
	if realm == "" {
		realm = settings.LibDefaults.DefaultRealm
	}
	keys, err := loadKeytab(c.KeytabFile)
	if err != nil {
		return user{}, err
	}
	if !holds(keys, name, realm) {
		return user{}, fmt.Errorf("%s has no key of %s@%s", c.KeytabFile, name, realm)
	}
	return user{name: name, realm: realm, settings: settings, session: client.NewWithKeytab(name, realm, keys, settings)}, nil
}

// login asks for a ticket with the keys.
func (u user) login() (ticket, error) {
	request, err := messages.NewASReqForTGT(u.realm, u.settings, u.session.Credentials.CName())
	if err != nil {
		return ticket{}, err
	}
	reply, err := u.session.ASExchange(u.realm, request, 0)
	if err != nil {
		return ticket{}, err
	}
	return ticketOf(reply.Ticket, reply.DecryptedEncPart), nil
}

// renew asks for a longer life of a ticket.
func (u user) renew(t ticket) (ticket, error) {
	_, reply, err := u.session.TGSREQGenerateAndExchange(granting(u.realm), u.realm, t.tgt, t.key, true)
	if err != nil {
		return ticket{}, err
	}
	return ticketOf(reply.Ticket, reply.DecryptedEncPart), nil
}

// granting is the name of the service that a login's ticket is for.
func granting(realm string) types.PrincipalName {
	return types.PrincipalName{NameType: nametype.KRB_NT_SRV_INST, NameString: []string{"krbtgt", realm}}
}

// holder makes a client that holds a ticket and no key: it cannot log in by itself.
func (u user) holder(t ticket) (*client.Client, error) {
	encoded, err := t.tgt.Marshal()
	if err != nil {
		return nil, err
	}
	held := &credentials.Credential{
		Key: t.key, AuthTime: t.start, StartTime: t.start, EndTime: t.end, RenewTill: t.renewUntil, Ticket: encoded,
	}
	held.Client.Realm, held.Client.PrincipalName = u.realm, u.session.Credentials.CName()
	held.Server.Realm, held.Server.PrincipalName = u.realm, granting(u.realm)
	cache := &credentials.CCache{Credentials: []*credentials.Credential{held}}
	cache.DefaultPrincipal.Realm, cache.DefaultPrincipal.PrincipalName = u.realm, u.session.Credentials.CName()
	return client.NewFromCCache(cache, u.settings)
}
