package hadoop

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// askTimeout bounds one question to a server; a frozen one would let it hang.
const askTimeout = 5 * time.Second

// get asks a web address for JSON.
func (c *Cluster) get(ctx context.Context, url string, out any) error {
	return getJSON(ctx, c.options.Security.HTTP, url, out)
}

func getJSON(ctx context.Context, client *http.Client, url string, out any) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("get %s: %w", url, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("get %s: %s: %.300s", url, response.Status, body)
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("get %s: decode: %w: %.300s", url, err, body)
	}
	return nil
}
