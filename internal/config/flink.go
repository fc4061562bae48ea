package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flinkscaler/adapters/flink"
)

// flink decodes how one cluster is reached. It repeats no value of this part:
// any of them can be a credential at a wrong place.
func (d *decoder) flink(path string, raw any) flink.Config {
	s := d.section(path, raw, slices.Concat([]string{"url", "urls"}, clientKeys(), []string{"redeploy"})...)
	if !s.valid {
		return flink.Config{}
	}
	c := flink.Config{URLs: s.addresses()}
	s.redeploy(&c.Redeploy)
	d.client(s, &c)
	if len(c.URLs) == 0 {
		// The addresses were reported; a placeholder lets the rest be checked.
		c.URLs = []string{"https://placeholder"}
	}
	_, single := s.values["url"]
	for _, p := range parts(d.checkFiles(path, c).Validate()) {
		d.flinkProblem(path, p.Error(), single)
	}
	return c
}

// clientKeys are the settings of a client of a Flink REST API.
func clientKeys() []string {
	return []string{"timeout", "caFile", "certFile", "keyFile", "serverName", "username", "usernameFile", "passwordFile", "tokenFile", "maxRequests"}
}

// client decodes them.
func (d *decoder) client(s section, c *flink.Config) {
	s.duration("timeout", &c.Timeout, 1)
	s.text("serverName", &c.ServerName)
	s.text("username", &c.Username)
	s.integer("maxRequests", &c.MaxRequests, 1)
	for key, to := range map[string]*string{
		"caFile": &c.CAFile, "certFile": &c.CertFile, "keyFile": &c.KeyFile,
		"usernameFile": &c.UsernameFile, "passwordFile": &c.PasswordFile, "tokenFile": &c.BearerTokenFile,
	} {
		s.text(key, to)
		if *to != "" && !filepath.IsAbs(*to) {
			*to = filepath.Join(d.dir, *to)
		}
	}
}

// checkFiles reports each file of TLS that cannot be read, and gives back the
// rest of the configuration: the adapter stops at the first.
func (d *decoder) checkFiles(path string, c flink.Config) flink.Config {
	bad := func(key, file string) bool {
		if file == "" {
			return false
		}
		_, err := os.ReadFile(file)
		if err != nil {
			d.problem(path+"."+key, "%v", err)
		}
		return err != nil
	}
	if bad("caFile", c.CAFile) {
		c.CAFile = ""
	}
	cert, key := bad("certFile", c.CertFile), bad("keyFile", c.KeyFile)
	if cert || key {
		c.CertFile, c.KeyFile = "", ""
	}
	return c
}

// addresses reads url or urls.
func (s section) addresses() []string {
	_, single := s.values["url"]
	many, multiple := s.values["urls"]
	switch {
	case single && multiple:
		s.d.problem(s.at("urls"), "cannot be given beside url; list every address here")
		return nil
	case !single && !multiple:
		s.d.problem(s.at("url"), "is missing; give the address of the Flink REST API, such as http://127.0.0.1:8081")
		return nil
	case single:
		var u string
		s.text("url", &u)
		if u == "" {
			return nil
		}
		return []string{u}
	}
	list, ok := many.([]any)
	if !ok || len(list) == 0 {
		s.d.problem(s.at("urls"), "must be a list of addresses, got %s", emptyOr(typeName(many), ok))
		return nil
	}
	out := make([]string, 0, len(list))
	for i, v := range list {
		u, ok := v.(string)
		if !ok {
			s.d.problem(fmt.Sprintf("%s[%d]", s.at("urls"), i), "must be a text, got %s", typeName(v))
			return nil
		}
		out = append(out, u)
	}
	return out
}

func emptyOr(name string, empty bool) string {
	if empty {
		return "an empty one"
	}
	return name
}

// flinkProblem puts a problem of the adapter under the path it has in the
// file.
func (d *decoder) flinkProblem(path, message string, single bool) {
	message = strings.ReplaceAll(message, "bearerTokenFile", "tokenFile")
	at, rest, ok := strings.Cut(message, ": ")
	if !ok || strings.ContainsAny(at, " ,") {
		d.problem(path, "%s", message)
		return
	}
	if single && at == "urls[0]" {
		at = "url"
	}
	d.problem(path+"."+at, "%s", rest)
}

// parts takes a joined error apart.
func parts(err error) []error {
	if err == nil {
		return nil
	}
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		return all.Unwrap()
	}
	return []error{err}
}
