package flink

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"flinkscaler/core"
)

// credentials are read from their files for each request: they are small, and
// the files may be replaced at any time.
type credentials struct {
	username, usernameFile, passwordFile, tokenFile string
}

func (c Config) credentials() credentials {
	return credentials{c.Username, c.UsernameFile, c.PasswordFile, c.BearerTokenFile}
}

// Authorize adds the credentials of the configuration to a request, read from their
// files now. It gives back the words that must not appear in any text about the
// answer: Hide takes them out.
func (c Config) Authorize(req *http.Request) (secrets []string, err error) {
	return c.credentials().authorize(req)
}

func (c Config) checkCredentials() []error {
	var problems []error
	named := c.Username != "" || c.UsernameFile != ""
	if c.Username != "" && c.UsernameFile != "" {
		problems = append(problems, errors.New("username, usernameFile: only one of them can be used"))
	}
	if named != (c.PasswordFile != "") {
		problems = append(problems, errors.New("passwordFile: goes with username or usernameFile, one needs the other"))
	}
	if c.BearerTokenFile != "" && (named || c.PasswordFile != "") {
		problems = append(problems, errors.New("bearerTokenFile: cannot be used beside a user name or password"))
	}
	for _, f := range []struct{ path, file string }{
		{"usernameFile", c.UsernameFile}, {"passwordFile", c.PasswordFile}, {"bearerTokenFile", c.BearerTokenFile},
	} {
		if f.file == "" {
			continue
		}
		if _, err := readSecret(f.file); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", f.path, err))
		}
	}
	return problems
}

// authorize adds the credentials to a request. It gives back the words that
// must not appear in any text about the answer.
func (c credentials) authorize(req *http.Request) ([]string, error) {
	if c.tokenFile != "" {
		token, err := readSecret(c.tokenFile)
		if err != nil {
			return nil, fmt.Errorf("%w: bearer token: %w", core.ErrUnauthorized, err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		return []string{token}, nil
	}
	if c.passwordFile == "" {
		return nil, nil
	}
	user := c.username
	if c.usernameFile != "" {
		var err error
		if user, err = readSecret(c.usernameFile); err != nil {
			return nil, fmt.Errorf("%w: user name: %w", core.ErrUnauthorized, err)
		}
	}
	password, err := readSecret(c.passwordFile)
	if err != nil {
		return nil, fmt.Errorf("%w: password: %w", core.ErrUnauthorized, err)
	}
	req.SetBasicAuth(user, password)
	_, encoded, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	return []string{password, encoded}, nil
}

// readSecret reads a one-line file. Its errors name the file, never what is in
// it.
func readSecret(file string) (string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	s := strings.TrimSpace(string(b))
	switch {
	case s == "":
		return "", fmt.Errorf("%s: is empty", file)
	case strings.ContainsAny(s, "\r\n\x00"):
		return "", fmt.Errorf("%s: must hold one line", file)
	}
	return s, nil
}

// Hide takes secrets out of a text that came from outside: a proxy may echo
// what it was sent.
func Hide(text string, secrets []string) string {
	for _, s := range secrets {
		text = strings.ReplaceAll(text, s, "(hidden)")
	}
	return text
}
