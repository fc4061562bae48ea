package config

import (
	"maps"
	"path/filepath"
	"slices"

	"flinkscaler/adapters/flink"
	"flinkscaler/adapters/hdfs"
	"flinkscaler/adapters/kerberos"
	"flinkscaler/adapters/yarn"
)

// yarn decodes how a YARN cluster is reached. It repeats no value of this part: any
// of them can be a credential at a wrong place.
func (d *decoder) yarn(path string, raw any, login *kerberos.Login) *yarn.Config {
	s := d.section(path, raw, "resourceManagers", "user", "username", "usernameFile", "passwordFile", "caFile", "certFile", "keyFile", "serverName", "timeout", "proxy", "autoscaledNodes", "flink", "redeploy")
	c := &yarn.Config{Login: login}
	if !s.valid {
		return c
	}
	s.texts("resourceManagers", &c.ResourceManagers)
	s.text("user", &c.User)
	s.text("username", &c.Username)
	s.text("serverName", &c.ServerName)
	s.duration("timeout", &c.Timeout, 1)
	for key, to := range map[string]*string{
		"caFile": &c.CAFile, "certFile": &c.CertFile, "keyFile": &c.KeyFile, "usernameFile": &c.UsernameFile, "passwordFile": &c.PasswordFile,
	} {
		s.file(key, to)
	}
	d.yarnFiles(path, c)
	proxy := true
	s.boolean("proxy", &proxy)
	c.NoProxy = !proxy
	s.boolean("autoscaledNodes", &c.AutoscaledNodes)
	d.yarnFlink(path, s.values["flink"], c)
	s.yarnRedeploy(&c.Redeploy)
	if _, given := s.values["resourceManagers"]; given && len(c.ResourceManagers) == 0 {
		// It was reported; a placeholder lets the rest be checked.
		c.ResourceManagers = []string{"https://placeholder"}
	}
	for _, p := range parts(c.Validate()) {
		d.flinkProblem(path, p.Error(), false)
	}
	return c
}

// yarnFiles reports files of TLS that cannot be read.
func (d *decoder) yarnFiles(path string, c *yarn.Config) {
	checked := d.checkFiles(path, flink.Config{CAFile: c.CAFile, CertFile: c.CertFile, KeyFile: c.KeyFile})
	c.CAFile, c.CertFile, c.KeyFile = checked.CAFile, checked.CertFile, checked.KeyFile
}

// yarnFlink decodes how the Flink REST APIs of the applications are reached: all
// the same way, their addresses come from YARN.
func (d *decoder) yarnFlink(path string, raw any, c *yarn.Config) {
	if raw == nil {
		return
	}
	s := d.section(path+".flink", raw, slices.Concat([]string{"tls"}, clientKeys())...)
	s.boolean("tls", &c.FlinkTLS)
	d.client(s, &c.Flink)
	c.Flink = d.checkFiles(path+".flink", c.Flink)
}

// hdfs decodes how the HDFS is reached that has a cluster's savepoints.
func (d *decoder) hdfs(path string, raw any, login *kerberos.Login) *hdfs.Config {
	s := d.section(path, raw, "configDirectory", "nameservices", "user", "timeout", "protection", "servicePrincipal", "datanodeHostnames")
	c := &hdfs.Config{Login: login}
	if !s.valid {
		return c
	}
	s.file("configDirectory", &c.ConfigDirectory)
	s.text("user", &c.User)
	s.text("servicePrincipal", &c.ServicePrincipal)
	s.duration("timeout", &c.Timeout, 1)
	s.oneOf("protection", &c.Protection, hdfs.Protections())
	s.boolean("datanodeHostnames", &c.DatanodeHostnames)
	if raw, given := s.values["nameservices"]; given {
		values, _ := raw.(map[string]any)
		all := d.section(path+".nameservices", raw, slices.Sorted(maps.Keys(values))...)
		c.Nameservices = map[string][]string{}
		for name := range values {
			var nodes []string
			all.texts(name, &nodes)
			c.Nameservices[name] = nodes
		}
	}
	problems := parts(c.Validate())
	if len(problems) == 0 {
		_, err := hdfs.New(*c) // it reads the files that the configuration names
		problems = parts(err)
	}
	for _, p := range problems {
		d.flinkProblem(path, p.Error(), false)
	}
	return c
}

// kerberos decodes who logs in to the servers of a cluster.
func (d *decoder) kerberos(path string, raw any) *kerberos.Login {
	s := d.section(path, raw, "principal", "keytabFile", "configFile", "timeout")
	if !s.valid {
		return nil
	}
	var c kerberos.Config
	s.text("principal", &c.Principal)
	s.file("keytabFile", &c.KeytabFile)
	s.file("configFile", &c.ConfigFile)
	s.duration("timeout", &c.Timeout, 1)
	problems := parts(c.Validate())
	for _, p := range problems {
		d.flinkProblem(path, p.Error(), false)
	}
	if len(problems) > 0 {
		return nil
	}
	login, err := kerberos.New(c)
	if err != nil {
		d.problem(path, "%v", err)
	}
	return login
}

// file reads the path of a file, from the folder of the configuration on.
func (s section) file(key string, to *string) {
	s.text(key, to)
	if *to != "" && !filepath.IsAbs(*to) {
		*to = filepath.Join(s.d.dir, *to)
	}
}
