package yarn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"time"

	"flinkscaler/adapters/flink/shared"
	"flinkscaler/core"
)

// live are the states of applications that have not ended.
const live = "NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING"

// applications lists those that a query finds, as they are now.
func (c *Cluster) applications(ctx context.Context, query url.Values) ([]application, error) {
	return fetch(ctx, c, request{op: "list applications", path: "/apps", query: query}, decodeApplications)
}

// application reads one by its id, as it is now. core.ErrNotFound: the
// ResourceManager does not know it, or no more.
func (c *Cluster) application(ctx context.Context, id string) (application, error) {
	asked := time.Now()
	app, err := fetch(ctx, c, request{op: "read application", subject: id, path: "/apps/" + url.PathEscape(id)}, func(b []byte) (application, error) {
		app, err := decodeApplication(b)
		if err == nil && app.ID != id {
			err = errors.New("it is about another application")
		}
		return app, err
	})
	if err == nil {
		c.learn(app, asked)
	}
	return app, err
}

// attempts counts how often the ApplicationMaster of an application was started.
// core.ErrNotFound: the ResourceManager does not know it.
func (c *Cluster) attempts(ctx context.Context, id string) (int, error) {
	return fetch(ctx, c, request{op: "read attempts of application", subject: id, path: "/apps/" + url.PathEscape(id) + "/appattempts"}, decodeAttempts)
}

// decodeAttempts gives the number of the newest attempt: older ones may be missing.
func decodeAttempts(b []byte) (int, error) {
	list, err := listIn(b, "appAttempts", "appAttempt")
	if err != nil || list == nil {
		return 0, err
	}
	attempts, err := fromJSON[[]struct {
		ID int `json:"id"`
	}](list)
	newest := 0
	for _, a := range attempts {
		if a.ID < 1 {
			return 0, errors.New("an attempt without a number")
		}
		newest = max(newest, a.ID)
	}
	return newest, err
}

// decodeApplications takes what ResourceManagers write for none. Everything else that is
// not a list of applications is an error: it must not look like none.
func decodeApplications(b []byte) ([]application, error) {
	list, err := listIn(b, "apps", "app")
	if err != nil || list == nil {
		return nil, err
	}
	out, err := fromJSON[[]application](list)
	for _, a := range out {
		if err == nil && (a.ID == "" || a.State == "") {
			err = errors.New("an application without id or state")
		}
	}
	return out, err
}

// listIn takes the list out of two objects around it, nil for what ResourceManagers write
// for none: null, {} or [] in place of either.
func listIn(b []byte, outer, inner string) (json.RawMessage, error) {
	all, err := member(b, outer)
	if err != nil || none(all) {
		return nil, err
	}
	list, err := member(all, inner)
	if err != nil || none(list) {
		return nil, err
	}
	if bytes.HasPrefix(list, []byte("{")) { // one, as older versions write it
		list = json.RawMessage("[" + string(list) + "]")
	}
	return list, nil
}

// member takes a named part out of an object that must have it.
func member(b []byte, name string) (json.RawMessage, error) {
	m, err := fromJSON[map[string]json.RawMessage](b)
	if err != nil {
		return nil, err
	}
	v, ok := m[name]
	if !ok {
		return nil, errors.New(`no "` + name + `" in the answer`)
	}
	return bytes.TrimSpace(v), nil
}

// none is true for the ways to write that there is nothing.
func none(v json.RawMessage) bool {
	var compact bytes.Buffer
	if json.Compact(&compact, v) != nil {
		return false
	}
	s := compact.String()
	return s == "null" || s == "{}" || s == "[]"
}

func decodeApplication(b []byte) (application, error) {
	v, err := member(b, "app")
	if err != nil {
		return application{}, err
	}
	app, err := fromJSON[application](v)
	if err == nil && (app.ID == "" || app.State == "") {
		err = errors.New("an application without id or state")
	}
	return app, err
}

// shareFor is how old a list of the live applications may be that all jobs are found
// in, and what is known of one of them: a worker of thousands of jobs would else ask
// for the same again and again.
const shareFor = 5 * time.Second

// listing is a list of applications, and when it was asked for.
type listing struct {
	apps []application
	at   time.Time
}

// candidates gives the live applications among which a target's is, asked for at most
// maxAge ago: those of its tag, else all of its type, which all targets share.
func (c *Cluster) candidates(ctx context.Context, target core.YarnTarget, maxAge time.Duration) (listing, error) {
	query := url.Values{"states": {live}, "deSelects": {"resourceRequests"}, "applicationTypes": {kindOf(target)}}
	if target.ApplicationTag != "" {
		query.Set("applicationTags", target.ApplicationTag)
	}
	return c.list(query).Get(ctx, maxAge, func(ctx context.Context) (listing, error) {
		asked := time.Now()
		apps, err := c.applications(ctx, query)
		return listing{apps, asked}, err
	})
}

// maxLists bounds the lists that are kept; more are read anew.
const maxLists = 4096

func (c *Cluster) list(query url.Values) *shared.Answer[listing] {
	key := encode(query)
	c.mu.Lock()
	defer c.mu.Unlock()
	if a, ok := c.lists[key]; ok {
		return a
	}
	if len(c.lists) >= maxLists {
		clear(c.lists)
	}
	a := &shared.Answer[listing]{}
	c.lists[key] = a
	return a
}
