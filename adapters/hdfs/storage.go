package hdfs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/user"
	"path"
	"slices"
	"strings"
	"sync"

	hdfs "github.com/colinmarc/hdfs/v2"
	"github.com/colinmarc/hdfs/v2/hadoopconf"

	"flinkscaler/core"
)

// Storage is the HDFS of one cluster. It is safe for concurrent use.
type Storage struct {
	cfg    Config
	user   string
	places places
	// client are the properties that the library reads.
	client properties
	// protection is one of Protections, the strongest of those that are configured, or
	// empty.
	protection string
	// copies is how often a file is kept.
	copies int

	mu sync.Mutex
	// large are directories that are not counted for their quotas.
	large map[string]bool
	// active is the NameNode that answered last, by authority.
	active map[string]string
}

// New makes a Storage, or lists every problem of its configuration. It reads the
// files of the configuration once and asks nobody anything.
func New(cfg Config) (*Storage, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("hdfs: %w", err)
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = DefaultTimeout
	}
	all := properties{}
	if cfg.ConfigDirectory != "" {
		var err error
		if all, err = readProperties(cfg.ConfigDirectory); err != nil {
			return nil, fmt.Errorf("configDirectory: %w", err)
		}
	}
	s := &Storage{cfg: cfg, user: cfg.User, places: newPlaces(all, cfg.Nameservices), copies: copiesOf(all), active: map[string]string{}, large: map[string]bool{}}
	if err := s.secure(all); err != nil {
		return nil, err
	}
	if len(s.places.nodes) == 0 {
		return nil, fmt.Errorf("configDirectory: its files name no NameNode (fs.defaultFS, or dfs.nameservices with dfs.namenode.rpc-address.*)")
	}
	return s, nil
}

// Knows says why the Storage cannot be asked about a place, nil where it can.
func (s *Storage) Knows(url string) error {
	_, err := s.places.find(url)
	return err
}

// secure finds who asks, and how.
func (s *Storage) secure(all properties) error {
	s.client = properties{}
	for _, name := range []string{"dfs.client.use.datanode.hostname", "dfs.namenode.kerberos.principal", "dfs.data.transfer.protection", "dfs.encrypt.data.transfer"} {
		s.client[name] = all.get(name)
	}
	if s.cfg.Protection != "" {
		s.client["dfs.data.transfer.protection"] = s.cfg.Protection
	}
	if s.cfg.ServicePrincipal != "" {
		s.client["dfs.namenode.kerberos.principal"] = s.cfg.ServicePrincipal
	}
	s.protection = hdfs.ClientOptionsFromConf(hadoopconf.HadoopConf(maps.Clone(s.client))).DataTransferProtection
	if s.cfg.Login != nil {
		if s.client["dfs.namenode.kerberos.principal"] == "" {
			return errors.New("servicePrincipal: is missing; give that of the NameNodes, such as nn/_HOST")
		}
		return nil
	}
	if strings.EqualFold(all.get("hadoop.security.authentication"), "kerberos") {
		return errors.New("configDirectory: its files say that HDFS wants Kerberos; give kerberos to the cluster")
	}
	if s.user != "" {
		return nil
	}
	who, err := processUser()
	if err != nil {
		return fmt.Errorf("user: is missing, and the user of this process has no name: %w", err)
	}
	s.user = who
	return nil
}

func processUser() (string, error) {
	who, err := user.Current()
	if err != nil {
		return "", err
	}
	return who.Username, nil
}

// who asks.
func (s *Storage) who() string {
	if s.cfg.Login != nil {
		return s.cfg.Login.Principal()
	}
	return s.user
}

// mostChecked bounds what List looks into; the newest directories come first.
const mostChecked = 1000

// List gives the complete savepoints in a directory, newest first.
func (s *Storage) List(ctx context.Context, directory string) ([]core.Savepoint, error) {
	const op = "list savepoints"
	at, err := s.places.find(directory)
	if err != nil {
		return nil, s.failed(op, directory, err)
	}
	out, err := ask(ctx, s, at, func(c client) ([]core.Savepoint, error) {
		entries, err := entries(c, at.path)
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(entries, func(a, b os.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
		var out []core.Savepoint
		for _, e := range entries[:min(len(entries), mostChecked)] {
			if !e.IsDir() {
				continue
			}
			found, err := s.read(c, path.Join(at.path, e.Name(), metadata))
			found.Path = strings.TrimRight(directory, "/") + "/" + e.Name()
			if err == nil {
				out = append(out, found)
			} else if meaning := s.failed("", "", err); !errors.Is(meaning, core.ErrNotFound) && !errors.Is(meaning, core.ErrRefused) {
				return nil, err
			}
		}
		return out, nil
	})
	slices.SortStableFunc(out, func(a, b core.Savepoint) int { return b.At.Compare(a.At) })
	return out, s.failed(op, directory, err)
}

// entries are those of a directory.
func entries(c client, dir string) ([]os.FileInfo, error) {
	f, err := c.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if !f.Stat().IsDir() {
		return nil, fmt.Errorf("%w: it is a file", core.ErrRefused)
	}
	return f.Readdir(0)
}

// Check reads one savepoint.
func (s *Storage) Check(ctx context.Context, savepoint string) (core.Savepoint, error) {
	const op = "check savepoint"
	at, err := s.places.find(savepoint)
	if err != nil {
		return core.Savepoint{}, s.failed(op, savepoint, err)
	}
	found, err := ask(ctx, s, at, func(c client) (core.Savepoint, error) { return s.read(c, path.Join(at.path, metadata)) })
	if err != nil {
		return core.Savepoint{}, s.failed(op, savepoint, err)
	}
	found.Path = savepoint
	return found, nil
}
