package yarn

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
)

// live are the states of applications that have not ended.
const live = "NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING"

// applications lists those that a query finds.
func (c *Cluster) applications(ctx context.Context, query url.Values) ([]application, error) {
	return fetch(ctx, c, request{op: "list applications", path: "/apps", query: query}, decodeApplications)
}

// decodeApplications takes what ResourceManagers write for none: null, {} or [].
func decodeApplications(b []byte) ([]application, error) {
	body, err := fromJSON[struct {
		Apps *json.RawMessage `json:"apps"`
	}](b)
	switch {
	case err != nil:
		return nil, err
	case body.Apps == nil:
		if _, ok := raw(b)["apps"]; !ok {
			return nil, errors.New(`no "apps" in the answer`)
		}
		return nil, nil
	case string(*body.Apps) == "[]":
		return nil, nil
	}
	apps, err := fromJSON[struct {
		App []application `json:"app"`
	}](*body.Apps)
	return apps.App, err
}

func raw(b []byte) map[string]json.RawMessage {
	m, _ := fromJSON[map[string]json.RawMessage](b)
	return m
}

// application reads one by its id. core.ErrNotFound: the ResourceManager does not
// know it, or no more.
func (c *Cluster) application(ctx context.Context, id string) (application, error) {
	return fetch(ctx, c, request{op: "read application", subject: id, path: "/apps/" + url.PathEscape(id)}, func(b []byte) (application, error) {
		body, err := fromJSON[struct {
			App *application `json:"app"`
		}](b)
		if err == nil && (body.App == nil || body.App.ID == "") {
			err = errors.New(`no "app" in the answer`)
		}
		if err != nil {
			return application{}, err
		}
		return *body.App, nil
	})
}
